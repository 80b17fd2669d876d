#pragma once

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/exp.h>
#include <ATen/ops/layer_norm.h>

#include <cstdint>
#include <string>
#include <vector>

#include "models/core/strings.h"
#include "models/speech/cpu_conv.h"
#include "models/vits/vits_weights.h"

// The weights of VITS's encoder and of its duration predictor. Conv is the convolution over rows
// that computes them. Errors are kept in weights.status().
namespace millrace::vits {

// A layer norm over the channels of each row, [phonemes, channels].
class VitsNorm {
 public:
  VitsNorm() = default;
  VitsNorm(VitsWeights& weights, const std::string& name, int64_t channels)
      : gamma_(weights.Take(StrCat(name, ".gamma"), {channels})),
        beta_(weights.Take(StrCat(name, ".beta"), {channels})) {}

  at::Tensor Run(const at::Tensor& x) const {
    constexpr double kEpsilon = 1e-5;
    return at::layer_norm(x, gamma_.sizes(), gamma_, beta_, kEpsilon);
  }

 private:
  at::Tensor gamma_;
  at::Tensor beta_;
};

// Makes a convolution that keeps the number of rows of these weights; bias may be undefined.
template <typename Conv>
Conv MakeRowConv(const at::Tensor& weight, const at::Tensor& bias) {
  return Conv(weight, bias);
}
// The products are exact in float32, because they decide the length of phonemes.
template <>
inline speech::CpuConv MakeRowConv(const at::Tensor& weight, const at::Tensor& bias) {
  return speech::CpuConv(weight, bias, {.exact = true});
}

template <typename Conv>
Conv TakeRowConv(VitsWeights& weights, const std::string& name, const std::vector<int64_t>& shape) {
  const VitsConv conv = TakeConv(weights, name, shape);
  return conv.weight.defined() ? MakeRowConv<Conv>(conv.weight, conv.bias) : Conv();
}

template <typename Conv>
struct VitsEncoderWeights {
  struct Layer {
    Conv query_key_value, output;
    at::Tensor relative_keys, relative_values;  // [1, 2 * window + 1, head channels]
    VitsNorm norm_1, norm_2;
    Conv feed_1, feed_2;
  };

  explicit VitsEncoderWeights(VitsWeights& weights)
      : embedding(weights.Take("enc_p.emb.weight", {-1, -1})),
        speakers(weights.TakeIfAny("emb_g.weight", {-1, -1})) {
    if (!weights.status().ok()) return;
    const int64_t hidden = embedding.size(1);
    const int64_t count = weights.Count("enc_p.encoder.attn_layers.", ".conv_q.weight");
    for (int64_t i = 0; i < count; ++i) layers.push_back(TakeLayer(weights, i, hidden));
    projection = TakeRowConv<Conv>(weights, "enc_p.proj", {-1, hidden, 1});
    if (weights.status().ok()) CheckStatistics(weights, projection.out_channels());
  }

  int64_t latent() const { return projection.out_channels() / 2; }
  int64_t speaker_count() const { return speakers.defined() ? speakers.size(0) : 1; }
  // Returns 0 for a voice of one speaker.
  int64_t speaker_channels() const { return speakers.defined() ? speakers.size(1) : 0; }

  at::Tensor embedding;  // [symbols, hidden]
  at::Tensor speakers;   // [speakers, channels]; undefined for one speaker
  std::vector<Layer> layers;
  Conv projection;

 private:
  static Layer TakeLayer(VitsWeights& weights, int64_t index, int64_t hidden) {
    const std::string attention = StrCat("enc_p.encoder.attn_layers.", index);
    const std::string feed = StrCat("enc_p.encoder.ffn_layers.", index);
    Layer layer;
    layer.query_key_value = TakeQueryKeyValue(weights, attention, hidden);
    layer.output = TakeRowConv<Conv>(weights, attention + ".conv_o", {hidden, hidden, 1});
    layer.relative_keys = weights.Take(attention + ".emb_rel_k", {1, -1, -1});
    layer.relative_values = weights.Take(attention + ".emb_rel_v", {1, -1, -1});
    layer.norm_1 = VitsNorm(weights, StrCat("enc_p.encoder.norm_layers_1.", index), hidden);
    layer.norm_2 = VitsNorm(weights, StrCat("enc_p.encoder.norm_layers_2.", index), hidden);
    layer.feed_1 = TakeRowConv<Conv>(weights, feed + ".conv_1", {-1, hidden, -1});
    layer.feed_2 = TakeRowConv<Conv>(weights, feed + ".conv_2", {hidden, -1, -1});
    return layer;
  }

  // Takes the projections to queries, keys and values as one.
  static Conv TakeQueryKeyValue(VitsWeights& weights, const std::string& attention,
                                int64_t hidden) {
    std::vector<at::Tensor> weight;
    std::vector<at::Tensor> bias;
    for (const char* name : {".conv_q", ".conv_k", ".conv_v"}) {
      weight.push_back(weights.Take(StrCat(attention, name, ".weight"), {hidden, hidden, 1}));
      bias.push_back(weights.Take(StrCat(attention, name, ".bias"), {hidden}));
    }
    return weights.status().ok() ? MakeRowConv<Conv>(at::cat(weight), at::cat(bias)) : Conv();
  }
};

template <typename Conv>
struct VitsDurationWeights {
  // A depthwise-separable convolution: one of each channel by itself, then one across the channels.
  struct SeparableLayer {
    at::Tensor taps;  // [taps, channels]
    at::Tensor bias;  // [channels], or undefined
    int64_t dilation = 1;
    Conv pointwise;
    VitsNorm norm_1, norm_2;
  };
  using Separable = std::vector<SeparableLayer>;
  struct Spline {
    Conv pre, projection;
    Separable layers;
  };

  VitsDurationWeights() = default;
  // hidden: the number of input channels. speaker_channels: 0 for a voice of one speaker.
  VitsDurationWeights(VitsWeights& weights, int64_t hidden, int64_t speaker_channels)
      : pre(TakeRowConv<Conv>(weights, "dp.pre", {-1, hidden, 1})) {
    if (!weights.status().ok()) return;
    const int64_t channels = pre.out_channels();
    layers = TakeSeparable(weights, "dp.convs", channels);
    projection = TakeRowConv<Conv>(weights, "dp.proj", {channels, channels, 1});
    if (speaker_channels > 0)
      speaker = TakeRowConv<Conv>(weights, "dp.cond", {channels, speaker_channels, 1});
    for (int flow : kDurationFlows) {
      const std::string name = StrCat("dp.flows.", flow);
      splines.push_back({TakeRowConv<Conv>(weights, name + ".pre", {channels, 1, 1}),
                         TakeRowConv<Conv>(weights, name + ".proj", {-1, channels, 1}),
                         TakeSeparable(weights, name + ".convs", channels)});
    }
    const at::Tensor first_shift = weights.Take("dp.flows.0.m", {2, 1});
    const at::Tensor logs = weights.Take("dp.flows.0.logs", {2, 1});
    if (!weights.status().ok()) return;
    shift = first_shift[0][0];
    inverse_scale = at::exp(-logs)[0][0];
  }

  Conv pre, projection, speaker;
  Separable layers;
  std::vector<Spline> splines;      // in the order of inference
  at::Tensor shift, inverse_scale;  // scalars

 private:
  static Separable TakeSeparable(VitsWeights& weights, const std::string& name, int64_t channels) {
    Separable layers;
    const int64_t count = weights.Count(name + ".convs_sep.", ".weight");
    int64_t dilation = 1;
    for (int64_t i = 0; i < count; ++i) {
      const VitsConv depthwise =
          TakeSameConv(weights, StrCat(name, ".convs_sep.", i), {channels, 1, -1}, dilation);
      SeparableLayer layer;
      layer.pointwise =
          TakeRowConv<Conv>(weights, StrCat(name, ".convs_1x1.", i), {channels, channels, 1});
      layer.norm_1 = VitsNorm(weights, StrCat(name, ".norms_1.", i), channels);
      layer.norm_2 = VitsNorm(weights, StrCat(name, ".norms_2.", i), channels);
      if (!weights.status().ok()) return layers;
      layer.taps = depthwise.weight.squeeze(1).transpose(0, 1).contiguous();
      layer.bias = depthwise.bias;
      layer.dilation = dilation;
      dilation *= layer.taps.size(0);
      layers.push_back(std::move(layer));
    }
    return layers;
  }
};

}  // namespace millrace::vits
