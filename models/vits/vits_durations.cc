#include "models/vits/vits_durations.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/gelu.h>

#include <cmath>
#include <utility>

#include "models/speech/cpu_conv.h"
#include "models/vits/aten_row_conv.h"
#include "models/vits/inverse_spline.h"

namespace millrace::vits {

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
