#include "models/kokoro/kokoro_encoder.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/leaky_relu.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/round.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/softmax.h>

#include <cmath>

#include "models/core/strings.h"

namespace millrace::kokoro {
namespace {

constexpr double kAlbertEpsilon = 1e-12;
constexpr double kTextSlope = 0.2;
constexpr double kOutOfSight = 1e9;    // its exponential is 0
constexpr float kMaxFrames = 100'000;  // keeps an extreme number in the range of integers

at::Tensor Normalize(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                     double epsilon) {
  return at::layer_norm(x, {x.size(-1)}, weight, bias, epsilon);
}

}  // namespace

KokoroEncoder::Norm KokoroEncoder::TakeNorm(KokoroWeights& weights, const std::string& name,
                                            const char* weight, const char* bias,
                                            int64_t channels) {
  return {weights.Take(StrCat(name, ".", weight), {channels}),
          weights.Take(StrCat(name, ".", bias), {channels})};
}

void KokoroEncoder::TakeAlbert(KokoroWeights& weights) {
  symbols_ = weights.Take("bert.embeddings.word_embeddings.weight", {-1, -1});
  if (!weights.status().ok()) return;
  const int64_t small = symbols_.size(1);
  positions_ = weights.Take("bert.embeddings.position_embeddings.weight", {-1, small});
  kind_ = weights.Take("bert.embeddings.token_type_embeddings.weight", {-1, small});
  embedding_norm_ = TakeNorm(weights, "bert.embeddings.LayerNorm", "weight", "bias", small);
  widen_ = KokoroRows::Take(weights, "bert.encoder.embedding_hidden_mapping_in", -1, small);
  if (!weights.status().ok()) return;
  const int64_t hidden = widen_.out_features();
  if (hidden % heads_ != 0) {
    weights.Refuse("bert.encoder.embedding_hidden_mapping_in.weight",
                   StrCat("has ", hidden, " outputs, no multiple of ", heads_, " heads"));
    return;
  }
  const std::string layer = "bert.encoder.albert_layer_groups.0.albert_layers.0";
  query_ = KokoroRows::Take(weights, layer + ".attention.query", hidden, hidden);
  key_ = KokoroRows::Take(weights, layer + ".attention.key", hidden, hidden);
  value_ = KokoroRows::Take(weights, layer + ".attention.value", hidden, hidden);
  mix_ = KokoroRows::Take(weights, layer + ".attention.dense", hidden, hidden);
  attention_norm_ = TakeNorm(weights, layer + ".attention.LayerNorm", "weight", "bias", hidden);
  feed_1_ = KokoroRows::Take(weights, layer + ".ffn", -1, hidden);
  feed_2_ = KokoroRows::Take(weights, layer + ".ffn_output", hidden, -1);
  if (!weights.status().ok()) return;
  if (feed_2_.in_features() != feed_1_.out_features()) {
    weights.Refuse(layer + ".ffn_output.weight",
                   StrCat("has ", feed_2_.in_features(), " inputs, ffn has ",
                          feed_1_.out_features(), " outputs"));
  }
  layer_norm_ = TakeNorm(weights, layer + ".full_layer_layer_norm", "weight", "bias", hidden);
  if (!weights.status().ok()) return;
  albert_ = FusedAlbert::Make({.query = query_,
                               .key = key_,
                               .value = value_,
                               .mix = mix_,
                               .feed_1 = feed_1_,
                               .feed_2 = feed_2_,
                               .attention_norm = attention_norm_,
                               .layer_norm = layer_norm_,
                               .epsilon = kAlbertEpsilon},
                              heads_);
}

void KokoroEncoder::TakeText(KokoroWeights& weights) {
  text_symbols_ = weights.Take("text_encoder.embedding.weight", {symbols_.size(0), -1});
  if (!weights.status().ok()) return;
  const int64_t channels = text_symbols_.size(1);
  const int64_t count = weights.Count("text_encoder.cnn.", ".0.weight");
  for (int64_t i = 0; i < count; ++i) {
    const std::string name = StrCat("text_encoder.cnn.", i);
    text_layers_.push_back(
        {KokoroSameConv::Take(weights, name + ".0", channels, channels, /*exact=*/true),
         {},
         TakeNorm(weights, name + ".1", "gamma", "beta", channels)});
    if (!weights.status().ok()) return;
    TextLayer& layer = text_layers_.back();
    if (padded_ && speech::SplitProduct::SupportedFor(text_symbols_) && layer.conv.bias().defined())
      layer.fused_conv = speech::SplitProduct(layer.conv.weight(), layer.conv.bias());
  }
  text_lstm_ = KokoroLstm::Take(weights, "text_encoder.lstm", channels, padded_);
}

KokoroEncoder::KokoroEncoder(KokoroWeights& weights, bool padded)
    : padded_(padded),
      layers_(weights.shape().albert_layers),
      heads_(weights.shape().albert_heads) {
  TakeAlbert(weights);
  if (!weights.status().ok()) return;
  narrow_ = KokoroRows::Take(weights, "bert_encoder", -1, widen_.out_features());
  if (!weights.status().ok()) return;
  const int64_t channels = narrow_.out_features();
  int64_t style = 0;
  for (int64_t i = 0; weights.Has(StrCat("predictor.text_encoder.lstms.", i + 1, ".fc.weight"));
       i += 2) {
    ProsodyLayer layer;
    layer.affine = KokoroAffine::Take(
        weights, StrCat("predictor.text_encoder.lstms.", i + 1, ".fc"), 2 * channels, -1);
    if (!weights.status().ok()) return;
    style = layer.affine.weight.size(1);
    layer.lstm = KokoroLstm::Take(weights, StrCat("predictor.text_encoder.lstms.", i),
                                  channels + style, padded);
    if (!weights.status().ok()) return;
    if (2 * layer.lstm.hidden != channels) {
      weights.Refuse(StrCat("predictor.text_encoder.lstms.", i, ".weight_hh_l0"),
                     StrCat("has ", layer.lstm.hidden, " inputs, expected half of ", channels));
    }
    prosody_.push_back(std::move(layer));
  }
  if (prosody_.empty()) {
    weights.Refuse("predictor.text_encoder.lstms.1.fc.weight", "is missing");
    return;
  }
  duration_lstm_ = KokoroLstm::Take(weights, "predictor.lstm", channels + style, padded);
  duration_ = KokoroLinear::Take(weights, "predictor.duration_proj.linear_layer", -1,
                                 2 * duration_lstm_.hidden);
  TakeText(weights);
}

at::Tensor KokoroEncoder::Attend(const at::Tensor& x, const at::Tensor& barrier) const {
  const auto split = [&](const KokoroRows& linear) {
    return linear.Run(x).view({x.size(0), x.size(1), heads_, -1}).transpose(1, 2);
  };
  const at::Tensor query = split(query_);
  const double scale = 1 / std::sqrt(static_cast<double>(query.size(3)));
  at::Tensor scores = at::matmul(query, split(key_).transpose(2, 3)) * scale;
  if (barrier.defined()) scores = scores + barrier;
  const at::Tensor shares = at::softmax(scores, -1);
  const at::Tensor mixed = at::matmul(shares, split(value_)).transpose(1, 2).flatten(2);
  return Normalize(x + mix_.Run(mixed), attention_norm_.weight, attention_norm_.bias,
                   kAlbertEpsilon);
}

at::Tensor KokoroEncoder::RunAlbert(const at::Tensor& ids, const at::Tensor& barrier) const {
  const int64_t length = ids.size(1);
  at::Tensor x = at::embedding(symbols_, ids) + kind_[0] + positions_.narrow(0, 0, length);
  x = Normalize(x, embedding_norm_.weight, embedding_norm_.bias, kAlbertEpsilon);
  x = widen_.Run(x);
  if (albert_) return albert_->Run(x, barrier, layers_);
  for (int64_t i = 0; i < layers_; ++i) {
    x = Attend(x, barrier);
    const at::Tensor fed = feed_2_.Run(at::gelu(feed_1_.Run(x), "tanh"));
    x = Normalize(fed + x, layer_norm_.weight, layer_norm_.bias, kAlbertEpsilon);
  }
  return x;
}

at::Tensor KokoroEncoder::RunText(const at::Tensor& ids, const KokoroExtent& extent) const {
  at::Tensor x = extent.Cut(at::embedding(text_symbols_, ids).transpose(1, 2));
  for (const TextLayer& layer : text_layers_) {
    at::Tensor y;
    if (layer.fused_conv && !extent.whole()) {
      y = layer.fused_conv
              ->Finish(layer.fused_conv->Multiply(speech::SplitProduct::Unfold(
                  x.transpose(1, 2).contiguous(), extent.counts.contiguous(), std::nullopt, 0,
                  layer.conv.weight().size(2))))
              .view({x.size(0), x.size(2), x.size(1)});
    } else {
      y = layer.conv.Run(x).transpose(1, 2);
    }
    x = extent.Cut(
        at::leaky_relu(Normalize(y, layer.norm.weight, layer.norm.bias, kNormEpsilon), kTextSlope)
            .transpose(1, 2));
  }
  return text_lstm_.Run(x.transpose(1, 2), extent).transpose(1, 2);
}

KokoroEncoder::Analysis KokoroEncoder::Analyze(const at::Tensor& ids, const at::Tensor& style,
                                               const KokoroExtent& extent) const {
  at::Tensor barrier;
  if (!extent.whole()) barrier = (extent.mask.unsqueeze(1) - 1) * kOutOfSight;
  const at::Tensor rows = style.unsqueeze(1).expand({ids.size(0), ids.size(1), style.size(1)});
  at::Tensor x = at::cat({narrow_.Run(RunAlbert(ids, barrier)), rows}, 2);
  for (const ProsodyLayer& layer : prosody_) {
    const at::Tensor y = layer.lstm.Run(x, extent);
    const at::Tensor both = layer.affine.Run(style).unsqueeze(1);
    const int64_t channels = y.size(2);
    const at::Tensor normal = Normalize(y, {}, {}, kNormEpsilon);
    x = at::cat(
        {(1 + both.narrow(2, 0, channels)) * normal + both.narrow(2, channels, channels), rows}, 2);
  }
  const at::Tensor shares = at::sigmoid(duration_.Run(duration_lstm_.Run(x, extent)));
  return {x, RunText(ids, extent), shares.sum(2)};
}

KokoroEncoder::Output KokoroEncoder::Forward(std::span<const int64_t> phonemes,
                                             const at::Tensor& style) const {
  const auto length = static_cast<int64_t>(phonemes.size());
  const at::Tensor ids =
      at::from_blob(const_cast<int64_t*>(phonemes.data()), {1, length}, at::kLong)
          .to(symbols_.device());
  const Analysis analysis = Analyze(ids, style, {});
  const at::Tensor lengths = at::round(analysis.lengths).to(at::kCPU).contiguous();
  return {analysis.prosody, analysis.text,
          FramesOf({lengths.const_data_ptr<float>(), phonemes.size()})};
}

KokoroEncoder::PaddedOutput KokoroEncoder::ForwardPadded(const PaddedInput& input) const {
  const KokoroExtent extent = KokoroExtent::Of(input.counts, input.phonemes.size(1));
  const Analysis analysis = Analyze(input.phonemes, input.style, extent);
  return {at::cat({analysis.prosody, analysis.text.transpose(1, 2)}, 2),
          at::round(analysis.lengths)};
}

std::vector<int64_t> KokoroEncoder::FramesOf(std::span<const float> lengths) {
  std::vector<int64_t> frames;
  frames.reserve(lengths.size());
  for (const float length : lengths) {
    const bool number = std::isfinite(length);
    frames.push_back(number ? static_cast<int64_t>(std::fmin(std::fmax(length, 1.0F), kMaxFrames))
                            : 0);
  }
  return frames;
}

}  // namespace millrace::kokoro
