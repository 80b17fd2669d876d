#pragma once

#include <ATen/core/Tensor.h>

namespace millrace::runtime {

// Computes at::linear for input [..., in], weight [out, in] and bias [out] or undefined; several
// threads may run it at once on every device. On Apple's GPU libtorch's kernel for it is one object
// for the whole process without a lock, so this uses a matrix product and an addition there.
// Results are within rounding of at::linear's.
at::Tensor Linear(const at::Tensor& input, const at::Tensor& weight, const at::Tensor& bias = {});

}  // namespace millrace::runtime
