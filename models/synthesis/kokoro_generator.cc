#include "models/synthesis/kokoro_generator.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/conv1d.h>
#include <ATen/ops/conv_transpose1d.h>
#include <ATen/ops/cos.h>
#include <ATen/ops/exp.h>
#include <ATen/ops/leaky_relu.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/reflection_pad1d.h>
#include <ATen/ops/sin.h>

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "models/synthesis/fourier.h"

namespace millrace::models {
namespace {

constexpr double kSlope = 0.1;
constexpr double kLastSlope = 0.01;

}  // namespace

KokoroGenerator::KokoroGenerator(KokoroWeights& weights, int64_t style, int sample_rate)
    : source_(weights, sample_rate),
      fft_size_(weights.shape().fft_size),
      hop_(weights.shape().fft_hop) {
  const FourierBasis basis = MakeSynthesis(fft_size_);
  cosines_ = basis.cosines.to(weights.device());
  sines_ = basis.sines.to(weights.device());
  window_power_ = MakeWindowPower(fft_size_).to(weights.device());
  int64_t channels = -1;
  for (size_t i = 0; i < weights.shape().upsample_strides.size(); ++i) {
    TakeStage(weights, i, channels, style);
    if (!weights.status().ok()) return;
    channels = stages_.back().up.weight.size(1);
  }
  in_channels_ = stages_.front().up.weight.size(0);
  post_ = KokoroConv::TakeSame(weights, "decoder.generator.conv_post", fft_size_ + 2, channels);
}

void KokoroGenerator::TakeStage(KokoroWeights& weights, size_t index, int64_t channels,
                                int64_t style) {
  const KokoroShape& shape = weights.shape();
  const std::string generator = "decoder.generator";
  const std::string name = absl::StrCat(generator, ".ups.", index);
  Stage stage;
  stage.stride = shape.upsample_strides[index];
  stage.up.weight = weights.Take(name + ".weight", {channels, -1, -1});
  if (!stage.up.weight.defined()) return;
  const int64_t out = stage.up.weight.size(1);
  stage.up.bias = weights.Take(name + ".bias", {out});
  const int64_t taps = stage.up.weight.size(2);
  if (taps < stage.stride || (taps - stage.stride) % 2 != 0) {
    weights.Refuse(name + ".weight", absl::StrCat("has ", taps, " taps, which do not fit its ",
                                                  "stride of ", stage.stride));
    return;
  }
  for (size_t i = index + 1; i < shape.upsample_strides.size(); ++i)
    stage.source_stride *= shape.upsample_strides[i];
  const std::string source = absl::StrCat(generator, ".noise_convs.", index);
  stage.source = KokoroConv::Take(weights, source, out, fft_size_ + 2);
  if (!stage.source.weight.defined()) return;
  const int64_t source_taps = stage.source_stride > 1 ? 2 * stage.source_stride : 1;
  if (stage.source.weight.size(2) != source_taps) {
    weights.Refuse(source + ".weight", absl::StrCat("has ", stage.source.weight.size(2),
                                                    " taps, expected ", source_taps));
    return;
  }
  stage.source_block =
      MakeSnakeBlock(weights, absl::StrCat(generator, ".noise_res.", index), out, style, {1, 3, 5});
  const size_t blocks = shape.block_dilations.size();
  for (size_t i = 0; i < blocks; ++i) {
    stage.blocks.push_back(
        MakeSnakeBlock(weights, absl::StrCat(generator, ".resblocks.", index * blocks + i), out,
                       style, shape.block_dilations[i]));
  }
  stages_.push_back(std::move(stage));
}

at::Tensor KokoroGenerator::ToSamples(const at::Tensor& spectrum) const {
  const int64_t bins = fft_size_ / 2 + 1;
  const at::Tensor magnitude = at::exp(spectrum.narrow(1, 0, bins));
  const at::Tensor phase = at::sin(spectrum.narrow(1, bins, bins));
  const at::Tensor sum = at::conv_transpose1d(magnitude * at::cos(phase), cosines_, {}, hop_) +
                         at::conv_transpose1d(magnitude * at::sin(phase), sines_, {}, hop_);
  const at::Tensor overlap = at::conv_transpose1d(
      at::ones({1, 1, spectrum.size(2)}, spectrum.options()), window_power_, {}, hop_);
  const int64_t samples = (spectrum.size(2) - 1) * hop_;
  return (sum.narrow(2, fft_size_ / 2, samples) / overlap.narrow(2, fft_size_ / 2, samples))
      .flatten();
}

std::optional<at::Tensor> KokoroGenerator::Run(const at::Tensor& features, const at::Tensor& pitch,
                                               const at::Tensor& noise, const at::Tensor& style,
                                               const std::function<bool()>& should_stop) const {
  const at::Tensor source = source_.Run(pitch, noise);
  at::Tensor x = features;
  for (size_t i = 0; i < stages_.size(); ++i) {
    const Stage& stage = stages_[i];
    if (should_stop()) return std::nullopt;
    const int64_t padding = stage.source_stride > 1 ? (stage.source_stride + 1) / 2 : 0;
    const at::Tensor joined = stage.source_block->Run(
        at::conv1d(source, stage.source.weight, stage.source.bias, stage.source_stride, padding),
        style);
    x = at::conv_transpose1d(at::leaky_relu(x, kSlope), stage.up.weight, stage.up.bias,
                             stage.stride, (stage.up.weight.size(2) - stage.stride) / 2);
    // The spectrum has one more than there are hops.
    if (i + 1 == stages_.size()) x = at::reflection_pad1d(x, {1, 0});
    x = x + joined;
    at::Tensor sum;
    for (const auto& block : stage.blocks) {
      if (should_stop()) return std::nullopt;
      const at::Tensor y = block->Run(x, style);
      sum = sum.defined() ? sum + y : y;
    }
    x = sum / static_cast<double>(stage.blocks.size());
  }
  return ToSamples(post_.RunSame(at::leaky_relu(x, kLastSlope)));
}

}  // namespace millrace::models
