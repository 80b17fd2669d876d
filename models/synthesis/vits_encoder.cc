#include "models/synthesis/vits_encoder.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/ceil.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/conv1d.h>
#include <ATen/ops/cumsum.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/exp.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/softplus.h>
#include <ATen/ops/sqrt.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros_like.h>

#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"

namespace millrace::models {
namespace {

constexpr double kNormEpsilon = 1e-5;
constexpr double kTailBound = 5.0;  // of the splines; outside it they are the identity
constexpr double kSmallestBin = 1e-3;
constexpr int kSplineFlows[] = {
    7, 5, 3};  // flows.1 is unused at inference; those between exchange the two halves

NativeConv TakeNative(VitsWeights& weights, const std::string& name,
                      const std::vector<int64_t>& shape) {
  const VitsConv conv = TakeConv(weights, name, shape);
  return conv.weight.defined() ? NativeConv(conv.weight, conv.bias, /*exact=*/true) : NativeConv();
}

// Positions of the bins' edges from their sizes before activation: [N, bins] -> [N, bins + 1].
at::Tensor Knots(const at::Tensor& sizes) {
  const double bins = static_cast<double>(sizes.size(1));
  const at::Tensor share = kSmallestBin + (1.0 - kSmallestBin * bins) * at::softmax(sizes, 1);
  return at::constant_pad_nd(at::cumsum(share, 1), {1, 0}) * (2.0 * kTailBound) - kTailBound;
}

// Inverse of the monotonic rational-quadratic spline (Durkan et al., 2019). y [N]; the rest before
// their activations.
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
  // Never negative but for rounding.
  const at::Tensor discriminant = (b * b - 4.0 * a * c).clamp_min(0);
  const at::Tensor root = 2.0 * c / (-b - at::sqrt(discriminant));
  return at::where(inside, (root * width + x0).squeeze(1), y);
}

}  // namespace

VitsEncoder::Norm VitsEncoder::TakeNorm(VitsWeights& weights, const std::string& name,
                                        int64_t channels) {
  return {weights.Take(absl::StrCat(name, ".gamma"), {channels}),
          weights.Take(absl::StrCat(name, ".beta"), {channels})};
}

VitsEncoder::Layer VitsEncoder::TakeLayer(VitsWeights& weights, int64_t index, int64_t hidden) {
  const std::string attention = absl::StrCat("enc_p.encoder.attn_layers.", index);
  const std::string feed = absl::StrCat("enc_p.encoder.ffn_layers.", index);
  Layer layer;
  layer.query = TakeNative(weights, attention + ".conv_q", {hidden, hidden, 1});
  layer.key = TakeNative(weights, attention + ".conv_k", {hidden, hidden, 1});
  layer.value = TakeNative(weights, attention + ".conv_v", {hidden, hidden, 1});
  layer.output = TakeNative(weights, attention + ".conv_o", {hidden, hidden, 1});
  layer.relative_keys = weights.Take(attention + ".emb_rel_k", {1, -1, -1});
  layer.relative_values = weights.Take(attention + ".emb_rel_v", {1, -1, -1});
  layer.norm_1 = TakeNorm(weights, absl::StrCat("enc_p.encoder.norm_layers_1.", index), hidden);
  layer.norm_2 = TakeNorm(weights, absl::StrCat("enc_p.encoder.norm_layers_2.", index), hidden);
  layer.feed_1 = TakeNative(weights, feed + ".conv_1", {-1, hidden, -1});
  layer.feed_2 = TakeNative(weights, feed + ".conv_2", {hidden, -1, -1});
  return layer;
}

VitsEncoder::Separable VitsEncoder::TakeSeparable(VitsWeights& weights, const std::string& name,
                                                  int64_t channels) {
  Separable layers;
  const int64_t count = weights.Count(name + ".convs_sep.", ".weight");
  int64_t dilation = 1;
  for (int64_t i = 0; i < count; ++i) {
    SeparableLayer layer;
    layer.depthwise =
        TakeSameConv(weights, absl::StrCat(name, ".convs_sep.", i), {channels, 1, -1}, dilation);
    layer.pointwise =
        TakeNative(weights, absl::StrCat(name, ".convs_1x1.", i), {channels, channels, 1});
    layer.norm_1 = TakeNorm(weights, absl::StrCat(name, ".norms_1.", i), channels);
    layer.norm_2 = TakeNorm(weights, absl::StrCat(name, ".norms_2.", i), channels);
    if (!weights.status().ok()) return layers;
    dilation *= layer.depthwise.weight.size(2);
    layers.push_back(std::move(layer));
  }
  return layers;
}

VitsEncoder::VitsEncoder(VitsWeights& weights) {
  embedding_ = weights.Take("enc_p.emb.weight", {-1, -1});
  speakers_ = weights.TakeIfAny("emb_g.weight", {-1, -1});
  if (!weights.status().ok()) return;
  const int64_t hidden = embedding_.size(1);
  const int64_t count = weights.Count("enc_p.encoder.attn_layers.", ".conv_q.weight");
  for (int64_t i = 0; i < count; ++i) layers_.push_back(TakeLayer(weights, i, hidden));
  projection_ = TakeNative(weights, "enc_p.proj", {-1, hidden, 1});
  // Means and deviations of latents of which the flow exchanges halves.
  if (projection_.out_channels() % 4 != 0) {
    weights.Refuse("enc_p.proj.weight", absl::StrCat("has ", projection_.out_channels(),
                                                     " outputs, which is no multiple of 4"));
  }

  duration_pre_ = TakeNative(weights, "dp.pre", {-1, hidden, 1});
  if (!weights.status().ok()) return;
  const int64_t channels = duration_pre_.out_channels();
  duration_layers_ = TakeSeparable(weights, "dp.convs", channels);
  duration_projection_ = TakeNative(weights, "dp.proj", {channels, channels, 1});
  if (speakers_.defined())
    duration_speaker_ = TakeNative(weights, "dp.cond", {channels, speakers_.size(1), 1});
  for (int flow : kSplineFlows) {
    const std::string name = absl::StrCat("dp.flows.", flow);
    splines_.push_back({TakeNative(weights, name + ".pre", {channels, 1, 1}),
                        TakeNative(weights, name + ".proj", {-1, channels, 1}),
                        TakeSeparable(weights, name + ".convs", channels)});
  }
  shift_ = weights.Take("dp.flows.0.m", {2, 1});
  const at::Tensor logs = weights.Take("dp.flows.0.logs", {2, 1});
  if (logs.defined()) inverse_scale_ = at::exp(-logs);
}

at::Tensor VitsEncoder::Normalize(const Norm& norm, const at::Tensor& x) {
  return at::layer_norm(x.transpose(1, 2), norm.gamma.sizes(), norm.gamma, norm.beta, kNormEpsilon)
      .transpose(1, 2);
}

// Self-attention with learned embeddings of the distance, as far as the window reaches.
at::Tensor VitsEncoder::Attend(const Layer& layer, const at::Tensor& x) {
  const int64_t length = x.size(2);
  const int64_t channels = layer.relative_keys.size(2);
  const int64_t span = layer.relative_keys.size(1) - 1;
  const int64_t window = span / 2;
  const int64_t heads = x.size(1) / channels;
  const auto split = [&](const NativeConv& conv) {
    return conv.Run(x).view({heads, channels, length}).transpose(1, 2);
  };
  const at::Tensor query = split(layer.query) / std::sqrt(static_cast<double>(channels));
  const at::Tensor key = split(layer.key);
  const at::Tensor value = split(layer.value);

  // Row i of `near` has the scores of the distances -window..window. Its rows, padded to length +
  // span + 1 and read with a pitch shorter by one, move to the right by their index: column j +
  // window is then position j.
  at::Tensor near = at::matmul(query, layer.relative_keys.transpose(1, 2));
  near = at::constant_pad_nd(near, {0, length}).flatten(1).narrow(1, 0, length * (length + span));
  near = near.view({heads, length, length + span}).narrow(2, window, length);
  const at::Tensor weights = at::softmax(at::matmul(query, key.transpose(1, 2)) + near, -1);

  // The same the other way round.
  at::Tensor band = at::constant_pad_nd(weights, {window, window}).flatten(1);
  band = at::constant_pad_nd(band, {0, length})
             .view({heads, length, length + span + 1})
             .narrow(2, 0, span + 1);
  const at::Tensor output = at::matmul(weights, value) + at::matmul(band, layer.relative_values);
  return layer.output.Run(output.transpose(1, 2).reshape({1, heads * channels, length}));
}

at::Tensor VitsEncoder::RunSeparable(const Separable& layers, at::Tensor x) {
  for (const SeparableLayer& layer : layers) {
    const int64_t padding = (layer.depthwise.weight.size(2) - 1) * layer.depthwise.dilation / 2;
    at::Tensor y = at::conv1d(x, layer.depthwise.weight, layer.depthwise.bias, 1, padding,
                              layer.depthwise.dilation, x.size(1));
    y = at::gelu(Normalize(layer.norm_1, y));
    x = x + at::gelu(Normalize(layer.norm_2, layer.pointwise.Run(y)));
  }
  return x;
}

// The stochastic duration predictor, run backwards: noise z [1, 2, T] to the log of each phoneme's
// frames [T].
at::Tensor VitsEncoder::LogFrames(const at::Tensor& hidden, at::Tensor z, int64_t speaker) const {
  at::Tensor x = duration_pre_.Run(hidden);
  if (speakers_.defined()) x = x + duration_speaker_.Run(speakers_[speaker].view({1, -1, 1}));
  x = duration_projection_.Run(RunSeparable(duration_layers_, x));
  const double scale = 1.0 / std::sqrt(static_cast<double>(x.size(1)));
  for (const Spline& spline : splines_) {
    z = z.flip(1);
    const at::Tensor kept = z.narrow(1, 0, 1);
    at::Tensor h = RunSeparable(spline.layers, spline.pre.Run(kept) + x);
    h = spline.projection.Run(h)[0].transpose(0, 1);
    const int64_t bins = (h.size(1) + 1) / 3;
    const at::Tensor changed =
        InverseSpline(z[0][1], h.narrow(1, 0, bins) * scale, h.narrow(1, bins, bins) * scale,
                      h.narrow(1, 2 * bins, bins - 1));
    z = at::cat({kept, changed.view({1, 1, -1})}, 1);
  }
  return ((z.flip(1)[0] - shift_) * inverse_scale_)[0];
}

VitsEncoder::Output VitsEncoder::Forward(std::span<const int64_t> phonemes,
                                         std::span<const float> noise, double noise_w,
                                         double length_scale, int64_t speaker) const {
  const auto length = static_cast<int64_t>(phonemes.size());
  const at::Tensor ids =
      at::from_blob(const_cast<int64_t*>(phonemes.data()), {1, length}, at::kLong);
  const at::Tensor z = at::from_blob(const_cast<float*>(noise.data()), {1, 2, length}, at::kFloat);
  const double scale = std::sqrt(static_cast<double>(embedding_.size(1)));
  at::Tensor x = (at::embedding(embedding_, ids) * scale).transpose(1, 2);
  for (const Layer& layer : layers_) {
    x = Normalize(layer.norm_1, x + Attend(layer, x));
    x = Normalize(layer.norm_2, x + layer.feed_2.Run(at::relu(layer.feed_1.Run(x))));
  }
  const at::Tensor frames = at::ceil(at::exp(LogFrames(x, z * noise_w, speaker)) * length_scale)
                                .clamp(1, kMaxFrames)
                                .to(at::kLong);
  const int64_t* data = frames.const_data_ptr<int64_t>();
  return {projection_.Run(x), std::vector<int64_t>(data, data + frames.numel())};
}

}  // namespace millrace::models
