#include "models/vits/aten_vits_durations.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/exp.h>
#include <ATen/ops/gelu.h>

#include <cmath>
#include <utility>

#include "models/core/strings.h"
#include "models/vits/inverse_spline.h"

namespace millrace::vits {

AtenVitsDurations::Separable AtenVitsDurations::TakeSeparable(VitsWeights& weights,
                                                              const std::string& name,
                                                              int64_t channels) {
  Separable layers;
  const int64_t count = weights.Count(name + ".convs_sep.", ".weight");
  int64_t dilation = 1;
  for (int64_t i = 0; i < count; ++i) {
    SeparableLayer layer;
    const VitsConv depthwise =
        TakeSameConv(weights, StrCat(name, ".convs_sep.", i), {channels, 1, -1}, dilation);
    layer.pointwise =
        AtenRowConv::Take(weights, StrCat(name, ".convs_1x1.", i), {channels, channels, 1});
    layer.norm_1 = VitsNorm(weights, StrCat(name, ".norms_1.", i), channels);
    layer.norm_2 = VitsNorm(weights, StrCat(name, ".norms_2.", i), channels);
    if (!weights.status().ok()) return layers;
    const int64_t taps = depthwise.weight.size(2);
    for (int64_t tap = 0; tap < taps; ++tap)
      layer.taps.push_back(depthwise.weight.select(2, tap).squeeze(1).contiguous());
    layer.bias = depthwise.bias;
    layer.dilation = dilation;
    dilation *= taps;
    layers.push_back(std::move(layer));
  }
  return layers;
}

AtenVitsDurations::AtenVitsDurations(VitsWeights& weights, int64_t hidden, int64_t speaker_channels)
    : pre_(AtenRowConv::Take(weights, "dp.pre", {-1, hidden, 1})) {
  if (!weights.status().ok()) return;
  const int64_t channels = pre_.out_channels();
  layers_ = TakeSeparable(weights, "dp.convs", channels);
  projection_ = AtenRowConv::Take(weights, "dp.proj", {channels, channels, 1});
  if (speaker_channels > 0)
    speaker_ = AtenRowConv::Take(weights, "dp.cond", {channels, speaker_channels, 1});
  for (int flow : kDurationFlows) {
    const std::string name = StrCat("dp.flows.", flow);
    splines_.push_back({AtenRowConv::Take(weights, name + ".pre", {channels, 1, 1}),
                        AtenRowConv::Take(weights, name + ".proj", {-1, channels, 1}),
                        TakeSeparable(weights, name + ".convs", channels)});
  }
  const at::Tensor shift = weights.Take("dp.flows.0.m", {2, 1});
  const at::Tensor logs = weights.Take("dp.flows.0.logs", {2, 1});
  if (!weights.status().ok()) return;
  shift_ = shift[0][0];
  inverse_scale_ = at::exp(-logs)[0][0];
}

at::Tensor AtenVitsDurations::RunDepthwise(const SeparableLayer& layer, const at::Tensor& x) {
  const auto taps = static_cast<int64_t>(layer.taps.size());
  const int64_t padding = (taps - 1) * layer.dilation / 2;
  const at::Tensor padded = at::constant_pad_nd(x, {0, 0, padding, padding});
  at::Tensor y;
  for (int64_t tap = 0; tap < taps; ++tap) {
    const at::Tensor shifted = padded.narrow(1, tap * layer.dilation, x.size(1));
    const at::Tensor& factors = layer.taps[static_cast<size_t>(tap)];
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
  at::Tensor x = pre_.Run(hidden);
  if (speaker.defined()) x = x + speaker_.Run(speaker);
  x = projection_.Run(RunSeparable(layers_, x, mask));
  const double scale = 1.0 / std::sqrt(static_cast<double>(x.size(2)));
  at::Tensor kept = noise.select(2, 0);
  at::Tensor changed = noise.select(2, 1);
  for (const Spline& spline : splines_) {
    std::swap(kept, changed);
    at::Tensor h = RunSeparable(spline.layers, spline.pre.Run(kept.unsqueeze(2)) + x, mask);
    h = spline.projection.Run(h).flatten(0, 1);
    const int64_t bins = (h.size(1) + 1) / 3;
    changed = InverseSpline(changed.flatten(), h.narrow(1, 0, bins) * scale,
                            h.narrow(1, bins, bins) * scale, h.narrow(1, 2 * bins, bins - 1))
                  .view(changed.sizes());
  }
  return (changed - shift_) * inverse_scale_;
}

}  // namespace millrace::vits
