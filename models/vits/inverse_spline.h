#pragma once

#include <ATen/core/Tensor.h>

namespace millrace::vits {

// Computes the inverse of the monotonic rational-quadratic spline (Durkan et al., 2019) in ATen
// operators, for any device, without waiting for it. y [N]; widths and heights [N, bins]; slopes
// [N, bins - 1]. All but y are before activation.
at::Tensor InverseSpline(const at::Tensor& y, const at::Tensor& widths, const at::Tensor& heights,
                         const at::Tensor& slopes);

}  // namespace millrace::vits
