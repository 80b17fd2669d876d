#pragma once

#include "models/kernels/conv_kernels.h"

namespace millrace::kernels {

// Computes a task by ParallelFor. Where nobody could help, or the task is small, it is one call of
// ConvKernels::convolve. Results are the same bits in both ways. Of a task with int8 weights,
// results are those of sums that SupportedInt8Kernels gives; see PackedNarrow for what they depend
// on.
void ParallelConvolve(const ConvTask& task, const ConvKernels& kernels = GetConvKernels());

}  // namespace millrace::kernels
