#include "models/vits/aten_vits_durations.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/gelu.h>

#include <cmath>
#include <utility>

#include "models/vits/inverse_spline.h"

namespace millrace::vits {

at::Tensor AtenVitsDurations::RunDepthwise(const SeparableLayer& layer, const at::Tensor& x) {
  const int64_t taps = layer.taps.size(0);
  const int64_t padding = (taps - 1) * layer.dilation / 2;
  const at::Tensor padded = at::constant_pad_nd(x, {0, 0, padding, padding});
  at::Tensor y;
  for (int64_t tap = 0; tap < taps; ++tap) {
    const at::Tensor shifted = padded.narrow(1, tap * layer.dilation, x.size(1));
    const at::Tensor factors = layer.taps[tap];
    y = y.defined() ? y.addcmul_(shifted, factors) : shifted * factors;
  }
  return layer.bias.defined() ? y.add_(layer.bias) : y;
}

at::Tensor AtenVitsDurations::RunSeparable(const Separable& layers, at::Tensor x,
                                           const at::Tensor& mask) {
  for (const SeparableLayer& layer : layers) {
    const at::Tensor y = at::gelu(layer.norm_1.Run(RunDepthwise(layer, x * mask)));
    x = x + at::gelu(layer.norm_2.Run(layer.pointwise.Run(y)));
  }
  return x;
}

at::Tensor AtenVitsDurations::LogFrames(const at::Tensor& hidden, const at::Tensor& noise,
                                        const at::Tensor& speaker, const at::Tensor& mask) const {
  at::Tensor x = weights_.pre.Run(hidden);
  if (speaker.defined()) x = x + weights_.speaker.Run(speaker);
  x = weights_.projection.Run(RunSeparable(weights_.layers, x, mask));
  const double scale = 1.0 / std::sqrt(static_cast<double>(x.size(2)));
  at::Tensor kept = noise.select(2, 0);
  at::Tensor changed = noise.select(2, 1);
  for (const Weights::Spline& spline : weights_.splines) {
    std::swap(kept, changed);
    at::Tensor h = RunSeparable(spline.layers, spline.pre.Run(kept.unsqueeze(2)) + x, mask);
    h = spline.projection.Run(h).flatten(0, 1);
    const int64_t bins = (h.size(1) + 1) / 3;
    changed = InverseSpline(changed.flatten(), h.narrow(1, 0, bins) * scale,
                            h.narrow(1, bins, bins) * scale, h.narrow(1, 2 * bins, bins - 1))
                  .view(changed.sizes());
  }
  return (changed - weights_.shift) * weights_.inverse_scale;
}

}  // namespace millrace::vits
