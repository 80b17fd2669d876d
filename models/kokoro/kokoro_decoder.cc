#include "models/kokoro/kokoro_decoder.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/conv1d.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/index_select.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <string>
#include <utility>

#include "models/core/strings.h"
#include "models/speech/device_noise.h"

namespace millrace::kokoro {
namespace {

// Returns the size of the style, which is that of the first affine layer's input.
int64_t StyleChannels(KokoroWeights& weights) {
  const at::Tensor affine = weights.Take("decoder.encode.norm1.fc.weight", {-1, -1});
  return affine.defined() ? affine.size(1) : -1;
}

// Returns the index of each frame's phoneme, [frames] on the CPU.
at::Tensor PhonemeOfFrame(const std::vector<int64_t>& frames) {
  at::Tensor indices =
      at::empty({std::accumulate(frames.begin(), frames.end(), int64_t{0})}, at::kLong);
  int64_t* next = indices.mutable_data_ptr<int64_t>();
  for (size_t i = 0; i < frames.size(); ++i)
    next = std::fill_n(next, frames[i], static_cast<int64_t>(i));
  return indices;
}

}  // namespace

KokoroDecoder::Predictor KokoroDecoder::TakePredictor(KokoroWeights& weights, const char* name,
                                                      kernels::Precision precision) const {
  Predictor predictor;
  int64_t channels = 2 * shared_.hidden;
  const std::string prefix = StrCat("predictor.", name, ".");
  const int64_t count = weights.Count(prefix, ".conv1.weight");
  int64_t doubled = 0;
  for (int64_t i = 0; i < count; ++i) {
    predictor.blocks.push_back(
        KokoroStyleBlock::Take(weights, StrCat(prefix, i), channels, -1, style_,
                               // Exact, because the pitch is summed.
                               precision == kernels::Precision::kFloat32, precision));
    if (!weights.status().ok()) return predictor;
    channels = predictor.blocks.back().conv_1.out_channels();
    if (predictor.blocks.back().pool.weight.defined()) ++doubled;
  }
  if (doubled != 1)
    weights.Refuse(prefix + "0.conv1.weight", "and those after it do not double the length once");
  predictor.projection =
      KokoroConv::TakeSame(weights, StrCat("predictor.", name, "_proj"), 1, channels);
  predictor.slow = KokoroConv::TakeSame(weights, StrCat("decoder.", name, "_conv"), 1, 1);
  return predictor;
}

KokoroDecoder::KokoroDecoder(KokoroWeights& weights, int sample_rate, bool padded, bool exact,
                             kernels::Precision precision)
    : samples_per_frame_(weights.shape().samples_per_frame()),
      style_(StyleChannels(weights)),
      generator_(weights, style_, sample_rate, padded, exact, precision) {
  if (!weights.status().ok()) return;
  shared_ = KokoroLstm::Take(weights, "predictor.shared", -1, padded);
  text_again_ = KokoroConv::TakeSame(weights, "decoder.asr_res.0", -1, -1);
  if (!weights.status().ok()) return;
  pitch_ = TakePredictor(weights, "F0", kernels::Precision::kFloat32);
  loudness_ = TakePredictor(weights, "N", precision);
  text_ = text_again_.weight.size(1);
  blocks_.push_back(
      KokoroStyleBlock::Take(weights, "decoder.encode", text_ + 2, -1, style_, exact, precision));
  if (!weights.status().ok()) return;
  int64_t channels = blocks_.back().conv_1.out_channels();
  const int64_t added = text_again_.weight.size(0) + 2;
  const int64_t count = weights.Count("decoder.decode.", ".conv1.weight");
  for (int64_t i = 0; i < count; ++i) {
    const std::string name = StrCat("decoder.decode.", i);
    blocks_.push_back(
        KokoroStyleBlock::Take(weights, name, channels + added, -1, style_, exact, precision));
    if (!weights.status().ok()) return;
    channels = blocks_.back().conv_1.out_channels();
    if (blocks_.back().pool.weight.defined() != (i + 1 == count))
      weights.Refuse(name + ".pool.weight", "must be in the last block alone");
  }
  if (channels != generator_.in_channels()) {
    weights.Refuse("decoder.generator.ups.0.weight",
                   StrCat("has ", generator_.in_channels(), " inputs, expected ", channels));
    return;
  }
  if (generator_.fused()) FuseBlocks();
}

void KokoroDecoder::FuseBlocks() {
  fused_ = FusedFeatures::Make(blocks_, text_again_);
  if (fused_) blocks_.clear();
  for (Predictor* const predictor : {&pitch_, &loudness_}) {
    predictor->fused = FusedPredictor::Make(predictor->blocks, predictor->projection);
    if (predictor->fused) predictor->blocks.clear();
  }
}

at::Tensor KokoroDecoder::RunPredictor(const Predictor& predictor, const at::Tensor& prosody,
                                       const at::Tensor& style, const KokoroExtent& extent,
                                       const KokoroExtent& after) {
  if (predictor.fused) return predictor.fused->Run(prosody.transpose(1, 2), style, extent, after);
  at::Tensor x = prosody;
  const KokoroExtent* now = &extent;
  for (const KokoroStyleBlock& block : predictor.blocks) {
    const KokoroExtent* next = block.pool.weight.defined() ? &after : now;
    x = block.Run(x, style, *now, *next);
    now = next;
  }
  return after.Cut(predictor.projection.RunSame(x));
}

at::Tensor KokoroDecoder::Slow(const Predictor& predictor, const at::Tensor& values) {
  return at::conv1d(values, predictor.slow.weight, predictor.slow.bias, /*stride=*/2,
                    (predictor.slow.weight.size(2) - 1) / 2);
}

KokoroDecoder::Curves KokoroDecoder::Predict(const KokoroEncoder::Output& encoded,
                                             const at::Tensor& style) const {
  const at::Tensor phoneme = PhonemeOfFrame(encoded.frames).to(style.device());
  const at::Tensor prosody_style = style.narrow(1, style_, style_);
  const at::Tensor prosody =
      shared_.Run(at::index_select(encoded.prosody, 1, phoneme)).transpose(1, 2);
  return {RunPredictor(pitch_, prosody, prosody_style, {}, {}),
          RunPredictor(loudness_, prosody, prosody_style, {}, {})};
}

KokoroDecoder::Curves KokoroDecoder::PredictPadded(const PaddedInput& input) const {
  const KokoroExtent extent = KokoroExtent::Of(input.counts, input.features.size(1));
  const KokoroExtent after = extent.Times(2);
  const at::Tensor style = input.style.narrow(1, style_, style_);
  const at::Tensor prosody =
      extent.Cut(shared_.Run(input.features.narrow(2, 0, input.features.size(2) - text_), extent)
                     .transpose(1, 2));
  return {RunPredictor(pitch_, prosody, style, extent, after),
          RunPredictor(loudness_, prosody, style, extent, after)};
}

std::optional<at::Tensor> KokoroDecoder::Features(const at::Tensor& text, const Curves& curves,
                                                  const at::Tensor& style,
                                                  const KokoroExtent& extent,
                                                  const KokoroExtent& after,
                                                  const std::function<bool()>& should_stop) const {
  const at::Tensor pitch = extent.Cut(Slow(pitch_, curves.pitch));
  const at::Tensor loudness = extent.Cut(Slow(loudness_, curves.loudness));
  if (fused_) return fused_->Run(text.transpose(1, 2), pitch, loudness, style, extent, after);
  const at::Tensor again = extent.Cut(text_again_.RunSame(text));
  at::Tensor x = at::cat({text, pitch, loudness}, 1);
  for (const KokoroStyleBlock& block : blocks_) {
    if (should_stop()) return std::nullopt;
    if (&block != &blocks_.front()) x = at::cat({x, again, pitch, loudness}, 1);
    x = block.Run(x, style, extent, block.pool.weight.defined() ? after : extent);
  }
  return x;
}

std::optional<std::vector<float>> KokoroDecoder::Decode(
    const KokoroEncoder::Output& encoded, const Curves& curves, const at::Tensor& style,
    std::vector<float> noise, const std::function<bool()>& should_stop) const {
  if (should_stop()) return std::nullopt;
  const at::Device device = style.device();
  const at::Tensor sound_style = style.narrow(1, 0, style_);
  const at::Tensor text =
      at::index_select(encoded.text, 2, PhonemeOfFrame(encoded.frames).to(device));
  const auto features = Features(text, curves, sound_style, {}, {}, should_stop);
  if (!features) return std::nullopt;
  const int64_t sines = noise_per_sample();
  // The tensor owns the vector, so that both are freed together.
  auto drawn = std::make_shared<std::vector<float>>(std::move(noise));
  float* const values = drawn->data();
  const auto count = static_cast<int64_t>(drawn->size());
  at::Tensor random =
      at::from_blob(
          values, {1, count / sines, sines}, [drawn = std::move(drawn)](void*) {}, at::kFloat)
          .to(device);
  const auto samples = generator_.Run(*features, curves.pitch.squeeze(1), std::move(random),
                                      sound_style, should_stop);
  if (!samples) return std::nullopt;
  const at::Tensor host = samples->to(at::kCPU).contiguous();
  const float* data = host.const_data_ptr<float>();
  return std::vector<float>(data, data + host.numel());
}

at::Tensor KokoroDecoder::DecodePadded(const PaddedInput& input, const Curves& curves) const {
  const int64_t frames = input.features.size(1);
  const KokoroExtent extent = KokoroExtent::Of(input.counts, frames);
  const KokoroExtent after = extent.Times(2);
  const at::Tensor style = input.style.narrow(1, 0, style_);
  const at::Tensor text =
      input.features.narrow(2, input.features.size(2) - text_, text_).transpose(1, 2);
  const at::Tensor features = *Features(text, curves, style, extent, after, [] { return false; });
  const int64_t samples = frames * samples_per_frame_;
  const at::Tensor noise = speech::DrawNoise(input.noise_keys, samples * noise_per_sample())
                               .reshape({-1, samples, noise_per_sample()});
  return generator_.RunPadded(features, curves.pitch.squeeze(1), noise, style, after);
}

}  // namespace millrace::kokoro
