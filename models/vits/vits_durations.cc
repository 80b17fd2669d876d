#include "models/vits/vits_durations.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/cumsum.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/softplus.h>
#include <ATen/ops/sqrt.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros_like.h>

#include <cmath>
#include <utility>

#include "models/speech/cpu_conv.h"
#include "models/vits/aten_row_conv.h"

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

// Computes the inverse of the monotonic rational-quadratic spline (Durkan et al., 2019) in ATen
// operators, for any device, without waiting for it. y [N]; widths and heights [N, bins]; slopes
// [N, bins - 1]. All but y are before activation.
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

}  // namespace

template <typename Conv>
at::Tensor VitsDurations<Conv>::RunDepthwise(const SeparableLayer& layer, const at::Tensor& x) {
  const int64_t taps = layer.taps.size(0);
  const int64_t padding = (taps - 1) * layer.dilation / 2;
  const at::Tensor padded = at::constant_pad_nd(x, {0, 0, padding, padding});
  at::Tensor y = padded.narrow(-2, 0, x.size(-2)) * layer.taps[0];
  for (int64_t tap = 1; tap < taps; ++tap)
    y.addcmul_(padded.narrow(-2, tap * layer.dilation, x.size(-2)), layer.taps[tap]);
  return layer.bias.defined() ? y.add_(layer.bias) : y;
}

template <typename Conv>
at::Tensor VitsDurations<Conv>::RunSeparable(const Separable& layers, at::Tensor x,
                                             const at::Tensor& mask) {
  for (const SeparableLayer& layer : layers) {
    const at::Tensor within = mask.defined() ? x * mask : x;
    const at::Tensor y = at::gelu(layer.norm_1.Run(RunDepthwise(layer, within)));
    x = x + at::gelu(layer.norm_2.Run(layer.pointwise.RunRows(y)));
  }
  return x;
}

template <typename Conv>
at::Tensor VitsDurations<Conv>::LogFrames(const at::Tensor& hidden, const at::Tensor& noise,
                                          const at::Tensor& speaker, const at::Tensor& mask) const {
  at::Tensor x = weights_.pre.RunRows(hidden);
  if (speaker.defined()) x = x + weights_.speaker.RunRows(speaker);
  x = weights_.projection.RunRows(RunSeparable(weights_.layers, x, mask));
  const double scale = 1.0 / std::sqrt(static_cast<double>(x.size(-1)));
  at::Tensor kept = noise.select(-1, 0);
  at::Tensor changed = noise.select(-1, 1);
  for (const auto& spline : weights_.splines) {
    std::swap(kept, changed);
    at::Tensor h = RunSeparable(spline.layers, spline.pre.RunRows(kept.unsqueeze(-1)) + x, mask);
    h = spline.projection.RunRows(h).flatten(0, -2);
    const int64_t bins = (h.size(1) + 1) / 3;
    changed = InverseSpline(changed.flatten(), h.narrow(1, 0, bins) * scale,
                            h.narrow(1, bins, bins) * scale, h.narrow(1, 2 * bins, bins - 1))
                  .view(changed.sizes());
  }
  return (changed - weights_.shift) * weights_.inverse_scale;
}

template class VitsDurations<speech::CpuConv>;
template class VitsDurations<AtenRowConv>;

}  // namespace millrace::vits
