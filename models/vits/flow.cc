#include "models/vits/flow.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/matmul.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "models/core/strings.h"
#include "models/kernels/parallel_conv.h"

namespace millrace::vits {
namespace {

constexpr int64_t kGateGroup = kernels::kChannelBlock / 2;

// Interleaves 16 channels of the tanh half with their 16 of the sigmoid half, as the gate of the
// kernels expects.
std::vector<int64_t> GateOrder(int64_t hidden) {
  std::vector<int64_t> order;
  for (int64_t group = 0; group < hidden; group += kGateGroup) {
    for (int64_t half : {int64_t{0}, hidden}) {
      for (int64_t c = group; c < group + kGateGroup; ++c)
        order.push_back(c < hidden ? half + c : -1);
    }
  }
  return order;
}

std::vector<int64_t> Range(int64_t begin, int64_t count) {
  std::vector<int64_t> range;
  for (int64_t i = 0; i < count; ++i) range.push_back(begin + i);
  return range;
}

std::vector<int64_t> Reversed(int64_t count) {
  std::vector<int64_t> order = Range(0, count);
  std::reverse(order.begin(), order.end());
  return order;
}

}  // namespace

Flow::Flow(VitsWeights& weights, int64_t latent, const at::Tensor& speakers,
           kernels::Precision precision)
    : speakers_(speakers), half_(latent / 2), half_width_(speech::PadChannels(half_)) {
  bool reversed = true;
  for (int flow : kFlows) {
    couplings_.push_back(Build(weights, flow, reversed, precision));
    if (!weights.status().ok()) return;
    reversed = !reversed;
  }
}

// The first exchange leaves both halves swapped and reversed, the second restores them. So in odd
// coupling layers the second half conditions and the first is changed, both read backwards.
Flow::Coupling Flow::Build(VitsWeights& weights, int flow, bool reversed,
                           kernels::Precision precision) {
  const std::string name = StrCat("flow.flows.", flow);
  Coupling coupling;
  const VitsConv pre = TakeConv(weights, name + ".pre", {-1, half_, 1});
  if (!weights.status().ok()) return coupling;
  const int64_t hidden = pre.weight.size(0);
  if (hidden_ != 0 && hidden != hidden_) {
    weights.Refuse(name + ".pre.weight", StrCat("has ", hidden, " outputs, those before it ",
                                                hidden_, "; they must have the same"));
    return coupling;
  }
  hidden_ = hidden;
  const VitsConv post = TakeConv(weights, name + ".post", {half_, hidden, 1});
  if (!weights.status().ok()) return coupling;
  const std::vector<int64_t> order = reversed ? Reversed(half_) : Range(0, half_);
  coupling.kept = reversed ? half_width_ : 0;
  coupling.changed = reversed ? 0 : half_width_;
  coupling.pre = speech::PackedConv(pre.weight, pre.bias, 1, {order, {}});
  coupling.post = speech::PackedConv(post.weight, post.bias, 1, {{}, order, -1.0F});

  const auto& dilations = weights.shape().flow_dilations;
  const auto count = static_cast<int64_t>(dilations.size());
  for (int64_t i = 0; i < count; ++i) {
    const bool last = i + 1 == count;
    const int64_t dilation = dilations[static_cast<size_t>(i)];
    const VitsConv gates =
        TakeSameConv(weights, StrCat(name, ".enc.in_layers.", i), {2 * hidden, hidden, -1});
    const VitsConv outputs = TakeConv(weights, StrCat(name, ".enc.res_skip_layers.", i),
                                      {last ? hidden : 2 * hidden, hidden, 1});
    if (!weights.status().ok()) return coupling;
    Layer layer;
    // Scales by row keep the layer's reach, and with it the time to the first audio.
    layer.gates =
        speech::PackedConv(gates.weight, gates.bias, dilation,
                           {.outputs = GateOrder(hidden),
                            .winograd = true,
                            .precision = dilation == 1 ? precision : kernels::Precision::kFloat32,
                            .scales_by_row = true});
    cut_step_ = std::lcm(cut_step_, layer.gates.cut_step());
    if (!last)
      layer.residual = speech::PackedConv(
          outputs.weight, outputs.bias, 1,
          {.outputs = Range(0, hidden), .precision = precision, .scales_by_row = true});
    layer.skip = speech::PackedConv(outputs.weight, outputs.bias, 1,
                                    {.outputs = Range(last ? 0 : hidden, hidden),
                                     .precision = precision,
                                     .scales_by_row = true});
    coupling.layers.push_back(std::move(layer));
  }
  if (speakers_.defined()) {
    coupling.speaker =
        TakeConv(weights, name + ".enc.cond_layer", {2 * hidden * count, speakers_.size(1), 1});
  }
  return coupling;
}

kernels::AlignedBuffer<float> Flow::SpeakerBias(const Coupling& coupling, int64_t speaker) const {
  const at::Tensor added =
      (at::matmul(coupling.speaker.weight.squeeze(2), speakers_[speaker]) + coupling.speaker.bias)
          .contiguous();
  const float* values = added.const_data_ptr<float>();
  const std::vector<int64_t> order = GateOrder(hidden_);
  const int64_t width = coupling.layers.front().gates.out_channels();
  auto biases =
      kernels::AlignedBuffer<float>::Zeros(coupling.layers.size() * static_cast<size_t>(width));
  for (size_t i = 0; i < coupling.layers.size(); ++i) {
    float* bias = biases.data() + static_cast<int64_t>(i) * width;
    std::copy_n(coupling.layers[i].gates.bias(), width, bias);
    for (size_t j = 0; j < order.size(); ++j) {
      if (order[j] >= 0) bias[j] += values[static_cast<int64_t>(i) * 2 * hidden_ + order[j]];
    }
  }
  return biases;
}

int64_t Flow::Reach(const Layer& layer) const {
  return (layer.gates.margin() + cut_step_ - 1) / cut_step_ * cut_step_;
}

int64_t Flow::reach() const {
  int64_t reach = 0;
  for (const Coupling& coupling : couplings_) {
    for (const Layer& layer : coupling.layers) reach += Reach(layer);
  }
  return reach;
}

void Flow::Run(const Part& part, int64_t speaker) const {
  float* const rows = part.rows;
  const int64_t frames = part.frames;
  const int64_t pitch = 2 * half_width_;
  const int64_t width = speech::PadChannels(hidden_);
  int64_t margin = 0;
  for (const Coupling& coupling : couplings_) {
    for (const Layer& layer : coupling.layers) margin = std::max(margin, layer.gates.margin());
  }
  // The rows beyond both ends stay zero.
  auto padded =
      kernels::AlignedBuffer<float>::Zeros(static_cast<size_t>((frames + 2 * margin) * width));
  auto gated = kernels::AlignedBuffer<float>::Zeros(static_cast<size_t>(frames * width));
  auto skipped = kernels::AlignedBuffer<float>::Zeros(static_cast<size_t>(frames * width));
  float* x = padded.data() + margin * width;
  // The frames on each side of the wanted ones that the layers still to come read.
  int64_t around = reach();
  int64_t begin = 0;
  int64_t end = 0;
  const auto set_range = [&] {
    begin = std::max<int64_t>(part.begin - around, 0);
    end = std::min(part.end + around, frames);
  };
  set_range();

  for (const Coupling& coupling : couplings_) {
    kernels::AlignedBuffer<float> speaker_bias;
    if (speakers_.defined()) speaker_bias = SpeakerBias(coupling, speaker);
    const auto task_of = [&](const speech::PackedConv& conv, const float* input,
                             int64_t input_pitch, float* output) {
      kernels::ConvTask task = conv.Task();
      task.rows = end - begin;
      task.input = input + (begin - conv.margin()) * input_pitch;
      task.input_pitch = input_pitch;
      task.raw = output + begin * width;
      task.output_pitch = width;
      return task;
    };
    kernels::ParallelConvolve(task_of(coupling.pre, rows + coupling.kept, pitch, x));
    for (size_t i = 0; i < coupling.layers.size(); ++i) {
      const Layer& layer = coupling.layers[i];
      around -= Reach(layer);
      set_range();
      kernels::ConvTask gates = task_of(layer.gates, x, width, gated.data());
      gates.gate = true;
      if (speakers_.defined())
        gates.bias = speaker_bias.data() + static_cast<int64_t>(i) * layer.gates.out_channels();
      kernels::ParallelConvolve(gates);
      if (i + 1 < coupling.layers.size()) {
        kernels::ConvTask residual = task_of(layer.residual, gated.data(), width, x);
        residual.residual = x + begin * width;
        kernels::ParallelConvolve(residual);
      }
      kernels::ConvTask skip = task_of(layer.skip, gated.data(), width, skipped.data());
      if (i > 0) skip.partial = skipped.data() + begin * width;
      kernels::ParallelConvolve(skip);
    }
    kernels::ConvTask post = task_of(coupling.post, skipped.data(), width, rows + coupling.changed);
    post.output_pitch = pitch;
    post.raw = rows + coupling.changed + begin * pitch;
    post.residual = post.raw;
    kernels::ParallelConvolve(post);
  }
}

}  // namespace millrace::vits
