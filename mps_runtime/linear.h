#pragma once

#include <ATen/core/Tensor.h>

namespace millrace::runtime {

// at::linear, input [..., in], weight [out, in], bias [out] or undefined, that several threads may
// run at once on every device: on Apple's GPU, where libtorch's kernel for it is one object for the
// whole process without a lock, a matrix product and an addition. Numbers are within rounding of
// at::linear's.
at::Tensor Linear(const at::Tensor& input, const at::Tensor& weight, const at::Tensor& bias = {});

}  // namespace millrace::runtime
