#include "models/vits/vits_durations.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/exp.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/zeros.h>

#include <cmath>
#include <utility>

#include "models/core/strings.h"
#include "models/vits/inverse_spline.h"

namespace millrace::vits {

VitsDurations::Separable VitsDurations::TakeSeparable(VitsWeights& weights, const std::string& name,
                                                      int64_t channels) {
  Separable layers;
  const int64_t count = weights.Count(name + ".convs_sep.", ".weight");
  int64_t dilation = 1;
  for (int64_t i = 0; i < count; ++i) {
    SeparableLayer layer;
    const VitsConv depthwise =
        TakeSameConv(weights, StrCat(name, ".convs_sep.", i), {channels, 1, -1}, dilation);
    layer.pointwise = TakeRowConv(weights, StrCat(name, ".convs_1x1.", i), {channels, channels, 1});
    layer.norm_1 = VitsNorm(weights, StrCat(name, ".norms_1.", i), channels);
    layer.norm_2 = VitsNorm(weights, StrCat(name, ".norms_2.", i), channels);
    if (!weights.status().ok()) return layers;
    layer.taps = depthwise.weight.squeeze(1).transpose(0, 1).contiguous();
    layer.bias = depthwise.bias.defined() ? depthwise.bias : at::zeros({channels});
    layer.dilation = dilation;
    dilation *= layer.taps.size(0);
    layers.push_back(std::move(layer));
  }
  return layers;
}

VitsDurations::VitsDurations(VitsWeights& weights, int64_t hidden, const at::Tensor& speakers)
    : pre_(TakeRowConv(weights, "dp.pre", {-1, hidden, 1})) {
  if (!weights.status().ok()) return;
  const int64_t channels = pre_.out_channels();
  layers_ = TakeSeparable(weights, "dp.convs", channels);
  projection_ = TakeRowConv(weights, "dp.proj", {channels, channels, 1});
  if (speakers.defined())
    speaker_ = TakeRowConv(weights, "dp.cond", {channels, speakers.size(1), 1});
  for (int flow : kDurationFlows) {
    const std::string name = StrCat("dp.flows.", flow);
    splines_.push_back({TakeRowConv(weights, name + ".pre", {channels, 1, 1}),
                        TakeRowConv(weights, name + ".proj", {-1, channels, 1}),
                        TakeSeparable(weights, name + ".convs", channels)});
  }
  const at::Tensor shift = weights.Take("dp.flows.0.m", {2, 1});
  const at::Tensor logs = weights.Take("dp.flows.0.logs", {2, 1});
  if (!weights.status().ok()) return;
  shift_ = shift.squeeze(1);
  inverse_scale_ = at::exp(-logs.squeeze(1));
}

at::Tensor VitsDurations::RunDepthwise(const SeparableLayer& layer, const at::Tensor& x) {
  const int64_t taps = layer.taps.size(0);
  const int64_t padding = (taps - 1) * layer.dilation / 2;
  const at::Tensor padded = at::constant_pad_nd(x, {0, 0, padding, padding});
  at::Tensor y = padded.narrow(0, 0, x.size(0)) * layer.taps[0];
  for (int64_t tap = 1; tap < taps; ++tap)
    y.addcmul_(padded.narrow(0, tap * layer.dilation, x.size(0)), layer.taps[tap]);
  return y.add_(layer.bias);
}

at::Tensor VitsDurations::RunSeparable(const Separable& layers, at::Tensor x) {
  for (const SeparableLayer& layer : layers) {
    const at::Tensor y = at::gelu(layer.norm_1.Run(RunDepthwise(layer, x)));
    x = x + at::gelu(layer.norm_2.Run(layer.pointwise.RunRows(y)));
  }
  return x;
}

at::Tensor VitsDurations::LogFrames(const at::Tensor& hidden, const at::Tensor& noise,
                                    const at::Tensor& speaker) const {
  at::Tensor x = pre_.RunRows(hidden);
  if (speaker.defined()) x = x + speaker_.RunRows(speaker);
  x = projection_.RunRows(RunSeparable(layers_, x));
  const double scale = 1.0 / std::sqrt(static_cast<double>(x.size(1)));
  at::Tensor kept = noise.select(1, 0);
  at::Tensor changed = noise.select(1, 1);
  for (const Spline& spline : splines_) {
    std::swap(kept, changed);
    at::Tensor h = RunSeparable(spline.layers, spline.pre.RunRows(kept.unsqueeze(1)) + x);
    h = spline.projection.RunRows(h);
    const int64_t bins = (h.size(1) + 1) / 3;
    changed = InverseSpline(changed, h.narrow(1, 0, bins) * scale, h.narrow(1, bins, bins) * scale,
                            h.narrow(1, 2 * bins, bins - 1));
  }
  return (changed - shift_[0]) * inverse_scale_[0];
}

}  // namespace millrace::vits
