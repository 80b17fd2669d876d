#include "models/vits/inverse_spline.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/cumsum.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/softplus.h>
#include <ATen/ops/sqrt.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros_like.h>

namespace millrace::vits {
namespace {

constexpr double kTailBound = 5.0;  // outside it the splines are the identity
constexpr double kSmallestBin = 1e-3;

// Returns the positions of the bins' edges for their sizes before activation: [N, bins] -> [N, bins
// + 1].
at::Tensor Knots(const at::Tensor& sizes) {
  const double bins = static_cast<double>(sizes.size(1));
  const at::Tensor share = kSmallestBin + (1.0 - kSmallestBin * bins) * at::softmax(sizes, 1);
  return at::constant_pad_nd(at::cumsum(share, 1), {1, 0}) * (2.0 * kTailBound) - kTailBound;
}

}  // namespace

at::Tensor InverseSpline(const at::Tensor& y, const at::Tensor& widths, const at::Tensor& heights,
                         const at::Tensor& slopes) {
  const at::Tensor left = Knots(widths);
  const at::Tensor bottom = Knots(heights);
  // The slope is 1 at both ends, where the identity takes over.
  const at::Tensor slope = at::constant_pad_nd(at::softplus(slopes) + kSmallestBin, {1, 1}, 1.0);
  const at::Tensor inside = y.abs() <= kTailBound;
  const at::Tensor target = at::where(inside, y, at::zeros_like(y)).unsqueeze(1);
  const at::Tensor bin =
      ((target >= bottom).sum(1, /*keepdim=*/true) - 1).clamp(0, widths.size(1) - 1);

  const at::Tensor x0 = left.gather(1, bin);
  const at::Tensor width = left.gather(1, bin + 1) - x0;
  const at::Tensor y0 = bottom.gather(1, bin);
  const at::Tensor height = bottom.gather(1, bin + 1) - y0;
  const at::Tensor slope0 = slope.gather(1, bin);
  const at::Tensor slope1 = slope.gather(1, bin + 1);
  const at::Tensor delta = height / width;
  const at::Tensor offset = target - y0;
  const at::Tensor curvature = slope0 + slope1 - 2.0 * delta;
  const at::Tensor a = offset * curvature + height * (delta - slope0);
  const at::Tensor b = height * slope0 - offset * curvature;
  const at::Tensor c = -delta * offset;
  // Only rounding can make it negative.
  const at::Tensor discriminant = (b * b - 4.0 * a * c).clamp_min(0);
  const at::Tensor root = 2.0 * c / (-b - at::sqrt(discriminant));
  return at::where(inside, (root * width + x0).squeeze(1), y);
}

}  // namespace millrace::vits
