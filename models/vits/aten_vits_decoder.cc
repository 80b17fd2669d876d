#include "models/vits/aten_vits_decoder.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/addcmul.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/conv1d.h>
#include <ATen/ops/conv_transpose1d.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/exp.h>
#include <ATen/ops/leaky_relu.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/tanh.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <utility>

#include "models/core/shape_bucket.h"
#include "models/core/strings.h"
#include "models/speech/device_noise.h"
#include "mps_runtime/base/log_sink.h"
#include "mps_runtime/cached_forward.h"

namespace millrace::vits {
namespace {

constexpr int64_t kSmallestBucket = 64;  // frames

// Convolves with zero padding that keeps the length.
at::Tensor Convolve(const VitsConv& conv, const at::Tensor& x) {
  const int64_t padding = (conv.weight.size(2) - 1) * conv.dilation / 2;
  return at::conv1d(x, conv.weight, conv.bias, 1, padding, conv.dilation);
}

// Repeats a mask [1, 1, frames] for a stage with `times` as many frames.
at::Tensor Stretch(const at::Tensor& mask, int64_t times) {
  const int64_t frames = mask.size(2);
  return mask.view({1, 1, frames, 1}).expand({1, 1, frames, times}).reshape({1, 1, frames * times});
}

}  // namespace

VitsCoupling AtenVitsDecoder::TakeCoupling(VitsWeights& weights, int flow, int64_t latent,
                                           int64_t speaker_channels) {
  const std::string name = StrCat("flow.flows.", flow);
  VitsCoupling coupling;
  coupling.pre = TakeConv(weights, name + ".pre", {-1, latent / 2, 1});
  if (!weights.status().ok()) return coupling;
  const int64_t hidden = coupling.pre.weight.size(0);
  const auto& dilations = weights.shape().flow_dilations;
  for (size_t i = 0; i < dilations.size(); ++i) {
    const bool last = i + 1 == dilations.size();
    coupling.gates.push_back(TakeSameConv(weights, StrCat(name, ".enc.in_layers.", i),
                                          {2 * hidden, hidden, -1}, dilations[i]));
    coupling.outputs.push_back(TakeConv(weights, StrCat(name, ".enc.res_skip_layers.", i),
                                        {last ? hidden : 2 * hidden, hidden, 1}));
  }
  coupling.post = TakeConv(weights, name + ".post", {latent / 2, hidden, 1});
  if (speaker_channels > 0) {
    const int64_t all = 2 * hidden * static_cast<int64_t>(dilations.size());
    coupling.speaker = TakeConv(weights, name + ".enc.cond_layer", {all, speaker_channels, 1});
  }
  return coupling;
}

VitsBlock AtenVitsDecoder::TakeBlock(VitsWeights& weights, int64_t index, int64_t channels) {
  const std::string name = StrCat("dec.resblocks.", index);
  const bool paired = weights.Has(name + ".convs1.0.weight");
  const auto& dilations = weights.shape().block_dilations[static_cast<size_t>(index)];
  VitsBlock block;
  for (size_t i = 0; i < dilations.size(); ++i) {
    block.convs.push_back(TakeSameConv(weights, StrCat(name, paired ? ".convs1." : ".convs.", i),
                                       {channels, channels, -1}, dilations[i]));
    if (paired) {
      block.seconds.push_back(
          TakeSameConv(weights, StrCat(name, ".convs2.", i), {channels, channels, -1}));
    }
  }
  return block;
}

AtenVitsDecoder::AtenVitsDecoder(VitsWeights& weights, int64_t latent, std::string model)
    : model_(std::move(model)), latent_(latent), hop_(weights.shape().hop()) {
  speakers_ = weights.TakeIfAny("emb_g.weight", {-1, -1});
  if (speakers_.defined()) host_speakers_ = speakers_.to(at::kCPU);
  const int64_t speaker_channels = speakers_.defined() ? speakers_.size(1) : 0;
  for (int flow : kFlows)
    couplings_.push_back(TakeCoupling(weights, flow, latent, speaker_channels));
  pre_ = TakeSameConv(weights, "dec.conv_pre", {-1, latent, -1});
  if (!weights.status().ok()) return;
  int64_t channels = pre_.weight.size(0);
  if (speaker_channels > 0)
    speaker_ = TakeConv(weights, "dec.cond", {channels, speaker_channels, 1});
  const VitsShape& shape = weights.shape();
  const size_t blocks = shape.block_dilations.size() / shape.upsample_strides.size();
  for (size_t i = 0; i < shape.upsample_strides.size(); ++i) {
    VitsStage stage;
    stage.up = TakeUpsampling(weights, i, channels);
    if (!weights.status().ok()) return;
    channels = stage.up.weight.size(1);
    for (size_t j = 0; j < blocks; ++j) {
      stage.blocks.push_back(TakeBlock(weights, static_cast<int64_t>(i * blocks + j), channels));
    }
    stages_.push_back(std::move(stage));
  }
  post_ = TakeSameConv(weights, "dec.conv_post", {1, channels, -1});
  if (!weights.status().ok()) return;
  gap_ = LongestReach();
  std::string why_not;
  fused_ = FusedGenerator::Make(stages_, post_, why_not);
  if (!why_not.empty()) {
    SendToLog(LogSeverity::kWarning,
              StrCat("a voice's generator runs without its fused kernels: ", why_not));
  }
  if (!fused_) return;
  stages_.clear();
  fused_flow_ = FusedFlow::Make(couplings_, pre_);
  if (fused_flow_) couplings_.clear();
}

int64_t AtenVitsDecoder::LongestReach() const {
  int64_t longest = 0;
  int64_t rows = 1;  // a frame has so many at the layer
  const auto include = [&](const std::vector<VitsConv>& convs) {
    for (const VitsConv& conv : convs) {
      const int64_t reach = (conv.weight.size(2) - 1) * conv.dilation / 2;
      longest = std::max(longest, (reach + rows - 1) / rows);
    }
  };
  for (const VitsCoupling& coupling : couplings_) include(coupling.gates);
  include({pre_});
  for (const VitsStage& stage : stages_) {
    const int64_t reach = (stage.up.weight.size(2) + stage.up.stride - 1) / stage.up.stride;
    longest = std::max(longest, (reach + rows - 1) / rows);
    rows *= stage.up.stride;
    for (const VitsBlock& block : stage.blocks) {
      include(block.convs);
      include(block.seconds);
    }
  }
  include({post_});
  return longest;
}

// Returns what the coupling layer adds to the other half of the channels, given this half.
at::Tensor AtenVitsDecoder::RunCoupling(const VitsCoupling& coupling, const at::Tensor& kept,
                                        const at::Tensor& mask, const at::Tensor& speaker) {
  at::Tensor x = Convolve(coupling.pre, kept) * mask;
  const int64_t hidden = x.size(1);
  at::Tensor condition;
  if (speaker.defined()) condition = Convolve(coupling.speaker, speaker);
  at::Tensor skipped = at::zeros_like(x);
  for (size_t i = 0; i < coupling.gates.size(); ++i) {
    at::Tensor gates = Convolve(coupling.gates[i], x);
    if (speaker.defined())
      gates = gates + condition.narrow(1, 2 * hidden * static_cast<int64_t>(i), 2 * hidden);
    const at::Tensor gated =
        at::tanh(gates.narrow(1, 0, hidden)) * at::sigmoid(gates.narrow(1, hidden, hidden));
    const at::Tensor y = Convolve(coupling.outputs[i], gated);
    if (y.size(1) == hidden) {  // the last layer has no residual part
      skipped = skipped + y;
    } else {
      x = at::addcmul(x, y.narrow(1, 0, hidden), mask);
      skipped = skipped + y.narrow(1, hidden, hidden);
    }
  }
  return Convolve(coupling.post, skipped);
}

at::Tensor AtenVitsDecoder::Flow(at::Tensor z, const at::Tensor& mask,
                                 const at::Tensor& speaker) const {
  const int64_t half = z.size(1) / 2;
  for (const VitsCoupling& coupling : couplings_) {
    z = z.flip(1);
    const at::Tensor kept = z.narrow(1, 0, half);
    const at::Tensor added = RunCoupling(coupling, kept, mask, speaker);
    z = at::cat({kept, at::addcmul(z.narrow(1, half, half), added, mask, -1)}, 1);
  }
  return z;
}

at::Tensor AtenVitsDecoder::RunBlock(const VitsBlock& block, at::Tensor x, const at::Tensor& mask) {
  for (size_t i = 0; i < block.convs.size(); ++i) {
    at::Tensor y = Convolve(block.convs[i], at::leaky_relu(x, kSlope));
    if (!block.seconds.empty()) y = Convolve(block.seconds[i], at::leaky_relu(y * mask, kSlope));
    x = at::addcmul(x, y, mask);
  }
  return x;
}

at::Tensor AtenVitsDecoder::Generate(const at::Tensor& z, at::Tensor mask,
                                     const at::Tensor& speaker) const {
  at::Tensor x = Convolve(pre_, z);
  if (speaker.defined()) x = x + Convolve(speaker_, speaker);
  x = x * mask;
  if (fused_) return fused_->Run(FusedGenerator::RowsOf(x), mask.flatten());
  for (const VitsStage& stage : stages_) {
    const int64_t padding = (stage.up.weight.size(2) - stage.up.stride) / 2;
    x = at::conv_transpose1d(at::leaky_relu(x, kSlope), stage.up.weight, stage.up.bias,
                             stage.up.stride, padding);
    mask = Stretch(mask, stage.up.stride);
    x = x.narrow(2, 0, mask.size(2)) * mask;
    at::Tensor sum = RunBlock(stage.blocks[0], x, mask);
    for (size_t i = 1; i < stage.blocks.size(); ++i) sum = sum + RunBlock(stage.blocks[i], x, mask);
    x = sum / static_cast<double>(stage.blocks.size());
  }
  return at::tanh(Convolve(post_, at::leaky_relu(x, kLastSlope))).flatten();
}

at::Tensor AtenVitsDecoder::Decode(const at::Tensor& rows, const at::Tensor& mask,
                                   const at::Tensor& speaker) const {
  if (fused_flow_) return fused_->Run(fused_flow_->Run(rows, mask), mask);
  const at::Tensor channels_mask = mask.view({1, 1, -1});
  return Generate(Flow(rows.t().unsqueeze(0), channels_mask, speaker), channels_mask, speaker);
}

at::Tensor AtenVitsDecoder::DecodePacked(const Packed& packed) const {
  const at::Tensor noise = speech::DrawNoiseRows(packed.noise_keys, packed.places, latent_);
  const at::Tensor means = packed.statistics.narrow(1, 0, latent_);
  const at::Tensor deviations =
      at::exp(packed.statistics.narrow(1, latent_, latent_)) * packed.noise_scale;
  const at::Tensor drawn = at::addcmul(means, noise, deviations) * packed.mask.unsqueeze(1);
  const at::Tensor speaker = speakers_.defined()
                                 ? at::embedding(speakers_, packed.speakers).t().unsqueeze(0)
                                 : at::Tensor();
  return Decode(drawn, packed.mask, speaker);
}

class AtenVitsDecoder::Sentence final : public Decoding {
 public:
  Sentence(const AtenVitsDecoder& decoder, const Input& input)
      : decoder_(decoder),
        frames_(input.TotalFrames()),
        bucket_(models::ShapeBucket(frames_, kSmallestBucket)) {
    const at::Tensor rows = at::zeros({1, bucket_, decoder_.latent_});
    input.DrawLatents(decoder_.latent_ / 2, decoder_.latent_, rows.mutable_data_ptr<float>());
    const at::Tensor mask = at::zeros({1, 1, bucket_});
    mask.narrow(2, 0, frames_).fill_(1);
    inputs_ = {rows, mask};
    if (decoder_.host_speakers_.defined())
      inputs_.push_back(decoder_.host_speakers_[input.speaker].view({1, -1, 1}));
  }

  std::optional<std::vector<float>> Generate(int64_t begin, int64_t, const std::function<bool()>&,
                                             runtime::WorkerContext& context) override {
    const runtime::GraphKey key{.model = decoder_.model_,
                                .entry_point = "decode",
                                .shape_bucket = bucket_,
                                .instance = decoder_.instance_};
    const at::Tensor samples = runtime::RunCachedOnHost(
        context, key, inputs_, [this](const std::vector<at::Tensor>& given) {
          const at::Tensor speaker = given.size() > 2 ? given[2] : at::Tensor();
          return std::vector<at::Tensor>{
              decoder_.Decode(given[0].squeeze(0), given[1].flatten(), speaker)};
        })[0];
    const float* data = samples.const_data_ptr<float>();
    return std::vector<float>(data + begin * decoder_.hop_, data + frames_ * decoder_.hop_);
  }

 private:
  const AtenVitsDecoder& decoder_;
  const int64_t frames_;
  const int64_t bucket_;
  std::vector<at::Tensor> inputs_;  // on the CPU
};

std::unique_ptr<VitsDecoder::Decoding> AtenVitsDecoder::Start(const Input& input) const {
  return std::make_unique<Sentence>(*this, input);
}

}  // namespace millrace::vits
