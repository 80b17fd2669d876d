#include "models/kokoro/kokoro_generator.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/addcmul.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/conv1d.h>
#include <ATen/ops/cos.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/exp.h>
#include <ATen/ops/flip.h>
#include <ATen/ops/leaky_relu.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/reflection_pad1d.h>
#include <ATen/ops/sin.h>
#include <ATen/ops/zeros.h>

#include <string>
#include <utility>

#include "models/core/strings.h"
#include "models/kernels/channel_rows.h"
#include "models/kokoro/fourier.h"
#include "models/speech/packed_conv.h"
#include "mps_runtime/base/log_sink.h"

namespace millrace::kokoro {
namespace {

constexpr double kUpsampleSlope = 0.1;
constexpr double kLastSlope = 0.01;

// Returns the weight of a transposed convolution [in, 1, windows * stride] as that of a convolution
// [stride, in, windows] that gives the values of each step as channels.
at::Tensor ByStep(const at::Tensor& weight, int64_t stride) {
  return at::flip(weight.view({weight.size(0), weight.size(2) / stride, stride}), {1})
      .permute({2, 0, 1})
      .contiguous();
}

// Returns the weight of a convolution [out, in, windows * stride] with this stride as that of one
// over rows of `stride` values of each channel, [out, stride * in, windows].
at::Tensor ByWindow(const at::Tensor& weight, int64_t stride) {
  const int64_t windows = weight.size(2) / stride;
  return weight.view({weight.size(0), weight.size(1), windows, stride})
      .permute({0, 3, 1, 2})
      .reshape({weight.size(0), -1, windows});
}

// Runs a convolution of ByStep over x [batch, in, time] and joins the steps: [batch, 1, time].
at::Tensor JoinSteps(const at::Tensor& x, const at::Tensor& weight) {
  return at::conv1d(x, weight, {}, /*stride=*/1, /*padding=*/weight.size(2) - 1)
      .transpose(1, 2)
      .flatten(1)
      .unsqueeze(1);
}

// Converts logarithms of magnitudes and phases of bins, as channels, to real and imaginary parts.
at::Tensor ToParts(const at::Tensor& spectrum) {
  const int64_t bins = spectrum.size(1) / 2;
  const at::Tensor magnitude = at::exp(spectrum.narrow(1, 0, bins));
  const at::Tensor phase = at::sin(spectrum.narrow(1, bins, bins));
  return at::cat({magnitude * at::cos(phase), magnitude * at::sin(phase)}, 1);
}

// Adds up windows [time, size] that begin `hop` samples apart: [(time - 1) * hop + size].
at::Tensor AddOverlapping(const at::Tensor& windows, int64_t hop) {
  const int64_t steps = windows.size(1) / hop;
  const at::Tensor sum = at::zeros({windows.size(0) + steps - 1, hop}, windows.options());
  for (int64_t step = 0; step < steps; ++step)
    sum.narrow(0, step, windows.size(0)).add_(windows.narrow(1, step * hop, hop));
  return sum.flatten();
}

// Converts [1, channels, time] to rows of channels, with zeros beyond the channels.
at::Tensor AsRows(const at::Tensor& x) {
  const at::Tensor input = x.contiguous();
  at::Tensor rows = at::zeros({input.size(2), speech::PadChannels(input.size(1))}, input.options());
  kernels::ToRows(input.const_data_ptr<float>(), {input.size(1), input.size(2)}, rows.size(1),
                  rows.mutable_data_ptr<float>());
  return rows;
}

}  // namespace

KokoroGenerator::KokoroGenerator(KokoroWeights& weights, int64_t style, int sample_rate,
                                 bool padded, bool exact, kernels::Precision precision)
    : source_(weights, sample_rate),
      fft_size_(weights.shape().fft_size),
      hop_(weights.shape().fft_hop) {
  const FourierBasis basis = MakeSynthesis(fft_size_);
  synthesis_ = at::cat({basis.cosines, basis.sines}).to(weights.device());
  overlap_ = MakeWindowPower(fft_size_).to(weights.device());
  if (padded) {
    synthesis_ = ByStep(synthesis_, hop_);
    overlap_ = ByStep(overlap_, hop_);
  } else {
    synthesis_ = synthesis_.squeeze(1);
    overlap_ = overlap_.squeeze(1);
  }
  int64_t channels = -1;
  for (size_t i = 0; i < weights.shape().upsample_strides.size(); ++i) {
    TakeStage(weights, i, channels, style, padded, precision);
    if (!weights.status().ok()) return;
    channels = stages_.back().up.out_channels();
  }
  in_channels_ = stages_.front().up.in_channels();
  // Exact, because it gives logarithms and phases.
  post_ = KokoroSameConv::Take(weights, "decoder.generator.conv_post", fft_size_ + 2, channels,
                               /*exact=*/true);
  if (padded && !exact && weights.status().ok()) FuseStages();
}

void KokoroGenerator::TakeStage(KokoroWeights& weights, size_t index, int64_t channels,
                                int64_t style, bool padded, kernels::Precision precision) {
  const KokoroShape& shape = weights.shape();
  const std::string generator = "decoder.generator";
  const std::string name = StrCat(generator, ".ups.", index);
  Stage stage;
  stage.up =
      KokoroUpsampling::Take(weights, name, channels, shape.upsample_strides[index], precision);
  if (!stage.up.defined()) return;
  const int64_t out = stage.up.out_channels();
  for (size_t i = index + 1; i < shape.upsample_strides.size(); ++i)
    stage.source_stride *= shape.upsample_strides[i];
  const std::string source = StrCat(generator, ".noise_convs.", index);
  stage.source = KokoroConv::Take(weights, source, out, fft_size_ + 2);
  if (!stage.source.weight.defined()) return;
  const int64_t source_taps = stage.source_stride > 1 ? 2 * stage.source_stride : 1;
  if (stage.source.weight.size(2) != source_taps) {
    weights.Refuse(source + ".weight",
                   StrCat("has ", stage.source.weight.size(2), " taps, expected ", source_taps));
    return;
  }
  if (!padded) {
    stage.source_rows = {
        ByWindow(stage.source.weight, stage.source_stride), stage.source.bias, {.exact = true}};
    stage.source = {};
  }
  const auto take = [&](const std::string& block, const std::vector<int64_t>& dilations) {
    if (padded) {
      stage.padded_blocks.emplace_back(weights, block, out, style, dilations);
    } else {
      stage.blocks.emplace_back(weights, block, out, style, dilations, precision);
    }
  };
  take(StrCat(generator, ".noise_res.", index), {1, 3, 5});
  const size_t blocks = shape.block_dilations.size();
  for (size_t i = 0; i < blocks; ++i)
    take(StrCat(generator, ".resblocks.", index * blocks + i), shape.block_dilations[i]);
  stages_.push_back(std::move(stage));
}

void KokoroGenerator::FuseStages() {
  std::vector<FusedStage> fused;
  std::string why_not;
  for (const Stage& stage : stages_) {
    auto made = FusedStage::Make(stage.up, stage.padded_blocks, why_not);
    if (!made) break;
    fused.push_back(*std::move(made));
  }
  if (!why_not.empty()) {
    SendToLog(LogSeverity::kWarning,
              StrCat("Kokoro's generator runs without its fused kernels: ", why_not));
  }
  if (fused.size() != stages_.size()) return;
  for (size_t i = 0; i < fused.size(); ++i) {
    stages_[i].fused = std::move(fused[i]);
    stages_[i].padded_blocks.clear();
  }
}

at::Tensor KokoroGenerator::ToSamples(const at::Tensor& spectrum,
                                      const KokoroExtent& extent) const {
  const at::Tensor parts = ToParts(spectrum) * extent.mask;
  const at::Tensor sum = JoinSteps(parts, synthesis_);
  const at::Tensor overlap = JoinSteps(extent.mask, overlap_);
  const int64_t samples = (spectrum.size(2) - 1) * hop_;
  return sum.narrow(2, fft_size_ / 2, samples) / overlap.narrow(2, fft_size_ / 2, samples);
}

at::Tensor KokoroGenerator::RowsToSamples(const at::Tensor& spectrum) const {
  const at::Tensor windows = at::matmul(ToParts(spectrum), synthesis_);
  const at::Tensor sum = AddOverlapping(windows, hop_);
  const at::Tensor overlap = AddOverlapping(overlap_.expand_as(windows), hop_);
  const int64_t samples = (spectrum.size(0) - 1) * hop_;
  return sum.narrow(0, fft_size_ / 2, samples) / overlap.narrow(0, fft_size_ / 2, samples);
}

int64_t KokoroGenerator::Stage::source_padding() const {
  return source_stride > 1 ? (source_stride + 1) / 2 : 0;
}

at::Tensor KokoroGenerator::SourceOf(const Stage& stage, const at::Tensor& source) {
  return at::conv1d(source, stage.source.weight, stage.source.bias, stage.source_stride,
                    stage.source_padding());
}

at::Tensor KokoroGenerator::SourceRows(const Stage& stage, const at::Tensor& source) {
  const int64_t stride = stage.source_stride;
  if (stride == 1) return stage.source_rows.RunRows(source);
  const int64_t padding = stage.source_padding();
  const at::Tensor padded = at::constant_pad_nd(source, {0, 0, padding, padding});
  const int64_t windows = padded.size(0) / stride;
  const at::Tensor rows = padded.narrow(0, 0, windows * stride).view({windows, -1});
  // The last window is the second one of the row before it.
  return stage.source_rows.RunRows(rows).narrow(0, 0, windows - 1);
}

at::Tensor KokoroGenerator::Upsample(const Stage& stage, const at::Tensor& x) const {
  const at::Tensor y = stage.up.Run(at::leaky_relu(x, kUpsampleSlope));
  // The spectrum has one value more than there are hops.
  return &stage == &stages_.back() ? at::reflection_pad1d(y, {1, 0}) : y;
}

std::optional<at::Tensor> KokoroGenerator::Run(const at::Tensor& features, const at::Tensor& pitch,
                                               at::Tensor noise, const at::Tensor& style,
                                               const std::function<bool()>& should_stop) const {
  const at::Tensor source = source_.Run(pitch, noise).squeeze(0).t().contiguous();
  // Signals are freed early, because each takes ten megabytes or more for a long sentence.
  noise.reset();
  at::Tensor x = AsRows(at::leaky_relu(features, kUpsampleSlope));
  SnakeScratch scratch;
  for (const Stage& stage : stages_) {
    if (should_stop()) return std::nullopt;
    const bool last = &stage == &stages_.back();
    // The spectrum has one value more than there are hops.
    x = stage.up.RunRows(x, /*reflected=*/last);
    stage.blocks.front().Run(SourceRows(stage, source), style, scratch,
                             {.rows = x.mutable_data_ptr<float>(), .added = true});
    const at::Tensor mean = at::empty_like(x);
    for (size_t i = 1; i < stage.blocks.size(); ++i) {
      if (should_stop()) return std::nullopt;
      CpuSnakeBlock::Result result = {.rows = mean.mutable_data_ptr<float>(), .added = i > 1};
      if (i + 1 == stage.blocks.size()) {
        result.scale = 1.0F / static_cast<float>(stage.blocks.size() - 1);
        result.slope = static_cast<float>(last ? kLastSlope : kUpsampleSlope);
      }
      stage.blocks[i].Run(x, style, scratch, result);
    }
    x = mean;
  }
  return RowsToSamples(post_.RunRows(x.narrow(1, 0, stages_.back().up.out_channels())));
}

at::Tensor KokoroGenerator::RunFused(const at::Tensor& features, const at::Tensor& source,
                                     const at::Tensor& style, const KokoroExtent& extent,
                                     const KokoroExtent& last) const {
  FusedStage::Signal signal = features.scalar_type() == at::kHalf
                                  ? FusedStage::Signal{features}
                                  : FusedStage::Begin(features, extent);
  KokoroExtent before = extent;
  for (const Stage& stage : stages_) {
    const bool is_last = &stage == &stages_.back();
    const KokoroExtent now = is_last ? last : before.Times(stage.up.stride());
    signal = stage.fused->Run(signal, before, kUpsampleSlope, SourceOf(stage, source), style, now,
                              /*reflected=*/is_last);
    before = now;
  }
  return FusedStage::End(signal, last, kLastSlope);
}

at::Tensor KokoroGenerator::RunPadded(const at::Tensor& features, const at::Tensor& pitch,
                                      const at::Tensor& noise, const at::Tensor& style,
                                      const KokoroExtent& extent) const {
  int64_t hops = 1;  // hops of a value of the pitch
  for (const Stage& stage : stages_) hops *= stage.up.stride();
  const KokoroExtent last = extent.Times(hops, 1);
  const at::Tensor source = source_.RunPadded(pitch, noise, extent, last);
  if (fused()) {
    const at::Tensor signal = RunFused(features, source, style, extent, last);
    return ToSamples(post_.Run(signal), last).squeeze(1);
  }
  KokoroExtent now = extent;
  at::Tensor x = features;
  for (const Stage& stage : stages_) {
    now = &stage == &stages_.back() ? last : now.Times(stage.up.stride());
    const at::Tensor joined =
        stage.padded_blocks.front().Run(now.Cut(SourceOf(stage, source)), style, now);
    x = at::addcmul(joined, Upsample(stage, x), now.mask);
    at::Tensor sum;
    for (size_t i = 1; i < stage.padded_blocks.size(); ++i) {
      const at::Tensor y = stage.padded_blocks[i].Run(x, style, now);
      sum = sum.defined() ? sum.add_(y) : y;
    }
    x = sum / static_cast<double>(stage.padded_blocks.size() - 1);
  }
  return ToSamples(post_.Run(at::leaky_relu(x, kLastSlope)), last).squeeze(1);
}

}  // namespace millrace::kokoro
