#include "models/vits/generator.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/matmul.h>

#include <algorithm>
#include <string>
#include <utility>

#include "models/core/strings.h"
#include "models/kernels/parallel_conv.h"

namespace millrace::vits {
namespace {

// The first stage has few rows and reads far beyond its ends, while the others have many rows and
// read little, so it runs in larger chunks.
constexpr int64_t kOuterFrames = 96;
constexpr int64_t kInnerFrames = 16;
// Residual blocks with fewer channels stay in float32: they are those next to the samples, and in
// int8 they would double the distance of the sounds.
constexpr int64_t kLeastInt8Channels = 64;

int64_t FloorDivide(int64_t a, int64_t b) { return a >= 0 ? a / b : -((-a + b - 1) / b); }

}  // namespace

Generator::Block Generator::TakeBlock(VitsWeights& weights, int64_t index, int64_t channels,
                                      kernels::Precision precision) {
  const std::string name = StrCat("dec.resblocks.", index);
  const bool paired = weights.Has(name + ".convs1.0.weight");
  const auto& dilations = weights.shape().block_dilations[static_cast<size_t>(index)];
  if (channels < kLeastInt8Channels) precision = kernels::Precision::kFloat32;
  Block block;
  const auto add = [&](const std::string& conv_name, int64_t dilation, bool residual) {
    const VitsConv conv = TakeSameConv(weights, conv_name, {channels, channels, -1});
    if (weights.status().ok())
      block.push_back({speech::PackedConv(conv.weight, conv.bias, dilation,
                                          {.winograd = true, .precision = precision}),
                       residual});
  };
  for (size_t i = 0; i < dilations.size(); ++i) {
    add(StrCat(name, paired ? ".convs1." : ".convs.", i), dilations[i], !paired);
    if (paired) add(StrCat(name, ".convs2.", i), 1, true);
  }
  return block;
}

std::vector<Generator::Range> Generator::ComputedRows(const Block& block, Range wanted) {
  std::vector<Range> computed(block.size());
  for (size_t i = block.size(); i > 0; --i) {
    computed[i - 1] = ComputedRows(block[i - 1].conv, wanted);
    wanted = InputRows(block[i - 1].conv, computed[i - 1]);
  }
  return computed;
}

Generator::Range Generator::ComputedRows(const speech::PackedConv& conv, Range wanted) {
  const int64_t step = conv.cut_step();
  return {FloorDivide(wanted.begin, step) * step, -FloorDivide(-wanted.end, step) * step};
}

Generator::Range Generator::InputRows(const speech::PackedConv& conv, Range computed) {
  return {computed.begin - conv.margin(), computed.end + conv.margin()};
}

Generator::Generator(VitsWeights& weights, const std::vector<int64_t>& input_places,
                     int64_t input_width, const at::Tensor& speakers, kernels::Precision precision)
    : hop_(weights.shape().hop()), speakers_(speakers) {
  const VitsConv pre =
      TakeSameConv(weights, "dec.conv_pre", {-1, static_cast<int64_t>(input_places.size()), -1});
  if (!weights.status().ok()) return;
  int64_t channels = pre.weight.size(0);
  std::vector<int64_t> inputs(static_cast<size_t>(input_width), -1);
  for (size_t c = 0; c < input_places.size(); ++c)
    inputs[static_cast<size_t>(input_places[c])] = static_cast<int64_t>(c);
  pre_ = speech::PackedConv(pre.weight, pre.bias, 1, {.inputs = inputs, .winograd = true});
  if (speakers_.defined())
    speaker_ = TakeConv(weights, "dec.cond", {channels, speakers_.size(1), 1});

  const VitsShape& shape = weights.shape();
  const size_t blocks = shape.block_dilations.size() / shape.upsample_strides.size();
  for (size_t i = 0; i < shape.upsample_strides.size(); ++i) {
    const VitsConv up = TakeUpsampling(weights, i, channels);
    if (!weights.status().ok()) return;
    channels = up.weight.size(1);
    Stage stage;
    stage.stride = up.stride;
    stage.crop = (up.weight.size(2) - up.stride) / 2;
    stage.up = speech::PackedConv::Transposed(up.weight, up.bias, up.stride, precision);
    stage.width = speech::PadChannels(channels);
    for (size_t j = 0; j < blocks; ++j) {
      stage.blocks.push_back(
          TakeBlock(weights, static_cast<int64_t>(i * blocks + j), channels, precision));
      if (!weights.status().ok()) return;
    }
    stages_.push_back(std::move(stage));
  }

  const VitsConv post = TakeSameConv(weights, "dec.conv_post", {1, channels, -1});
  if (!weights.status().ok()) return;
  const int64_t width = speech::PadChannels(channels);
  post_taps_ = post.weight.size(2);
  post_ = kernels::AlignedBuffer<float>::Zeros(static_cast<size_t>(post_taps_ * width));
  const auto from = post.weight.accessor<float, 3>();
  for (int64_t tap = 0; tap < post_taps_; ++tap) {
    for (int64_t c = 0; c < channels; ++c) post_.data()[tap * width + c] = from[0][c][tap];
  }
  if (post.bias.defined()) post_bias_ = post.bias.const_data_ptr<float>()[0];
}

Generator::Rows Generator::Allocate(kernels::AlignedBuffer<float>& memory, Range range,
                                    int64_t width) {
  const auto size = static_cast<size_t>((range.end - range.begin) * width);
  if (memory.size() < size) {
    memory = {};  // freed before more is allocated
    memory = kernels::AlignedBuffer<float>::Zeros(size);
  }
  return {memory.data(), range.begin, range.end, width};
}

void Generator::ClearOutside(const Rows& rows, int64_t total) {
  const int64_t before = std::clamp<int64_t>(0, rows.begin, rows.end);
  std::fill(rows.data, rows.row(before), 0.0F);
  const int64_t after = std::clamp(total, rows.begin, rows.end);
  std::fill(rows.row(after), rows.row(rows.end), 0.0F);
}

Generator::Range Generator::InputRows(const Stage& stage, Range wanted) {
  Range up = wanted;
  for (const Block& block : stage.blocks) {
    const Range input = InputRows(block.front().conv, ComputedRows(block, wanted).front());
    up = {std::min(up.begin, input.begin), std::max(up.end, input.end)};
  }
  const int64_t first = FloorDivide(up.begin + stage.crop, stage.stride);
  const int64_t last = FloorDivide(up.end - 1 + stage.crop, stage.stride);
  return {first - stage.up.taps() + 1, last + 1};
}

int64_t Generator::InputEnd(int64_t end) const {
  Range range = {end * hop_ - 1, end * hop_ + (post_taps_ - 1) / 2};
  for (size_t i = stages_.size(); i > 0; --i) range = InputRows(stages_[i - 1], range);
  return InputRows(pre_, ComputedRows(pre_, range)).end;
}

Generator::Rows Generator::RunPre(const Rows& frames, int64_t total, Range wanted,
                                  const float* bias, Scratch& scratch) const {
  const Range computed = ComputedRows(pre_, wanted);
  const Rows input = Allocate(scratch.frames, InputRows(pre_, computed), frames.width);
  ClearOutside(input, total);
  const int64_t from = std::max<int64_t>(input.begin, 0);
  const int64_t to = std::min(input.end, total);
  std::copy(frames.row(from), frames.row(to), input.row(from));

  const Rows output = Allocate(scratch.first, computed, pre_.out_channels());
  kernels::ConvTask task = pre_.Task();
  task.bias = bias;
  task.input = input.data;
  task.input_pitch = input.width;
  task.rows = computed.end - computed.begin;
  task.output_pitch = output.width;
  task.active = output.data;
  task.slope = kSlope;
  kernels::ParallelConvolve(task);
  ClearOutside(output, total);
  return output;
}

Generator::Rows Generator::RunStage(size_t index, const Rows& input, int64_t input_total,
                                    Range wanted, Scratch::Stage& scratch) const {
  const Stage& stage = stages_[index];
  const int64_t total = input_total * stage.stride;
  const Range from = InputRows(stage, wanted);
  const int64_t first = from.begin + stage.up.taps() - 1;
  const Range up = {first * stage.stride - stage.crop, from.end * stage.stride - stage.crop};
  const Rows raw = Allocate(scratch.raw, up, stage.width);
  const Rows active = Allocate(scratch.active, up, stage.width);
  kernels::ConvTask task = stage.up.Task();
  task.input = input.row(from.begin);
  task.input_pitch = input.width;
  task.rows = from.end - first;
  task.output_pitch = stage.stride * stage.width;
  task.raw = raw.data;
  task.active = active.data;
  task.slope = kSlope;
  kernels::ParallelConvolve(task);
  ClearOutside(raw, total);
  ClearOutside(active, total);

  Range results = wanted;
  for (const Block& block : stage.blocks) {
    const Range of_block = ComputedRows(block, wanted).back();
    results = {std::min(results.begin, of_block.begin), std::max(results.end, of_block.end)};
  }
  const Rows output = Allocate(scratch.output, results, stage.width);
  const Rows sum = Allocate(scratch.sum, results, stage.width);
  const float slope = index + 1 == stages_.size() ? kLastSlope : kSlope;
  for (size_t block = 0; block < stage.blocks.size(); ++block) {
    RunBlock(stage, block, {raw, active, sum, output, wanted, total, slope}, scratch);
  }
  ClearOutside(output, total);
  return output;
}

void Generator::RunBlock(const Stage& stage, size_t block, const BlockRows& rows,
                         Scratch::Stage& scratch) const {
  const Block& convs = stage.blocks[block];
  const std::vector<Range> computed = ComputedRows(convs, rows.wanted);
  Rows raw = rows.raw;
  Rows active = rows.active;
  size_t raws = 0;
  for (size_t i = 0; i < convs.size(); ++i) {
    const speech::PackedConv& conv = convs[i].conv;
    const bool residual = convs[i].residual;
    const bool last = i + 1 == convs.size();
    const int64_t from = std::max<int64_t>(computed[i].begin, 0);
    const int64_t to = std::min(computed[i].end, rows.total);
    kernels::ConvTask task = conv.Task();
    task.input = active.row(from - conv.margin());
    task.input_pitch = stage.width;
    task.output_pitch = stage.width;
    task.rows = to - from;
    task.slope = kSlope;
    if (residual) task.residual = raw.row(from);
    if (last) {
      if (block > 0) task.partial = rows.sum.row(from);
      if (block + 1 < stage.blocks.size()) {
        task.raw = rows.sum.row(from);
      } else {
        task.scale = 1.0F / static_cast<float>(stage.blocks.size());
        task.active = rows.output.row(from);
        task.slope = rows.output_slope;
      }
      kernels::ParallelConvolve(task);
      return;
    }
    const Rows next_active = Allocate(scratch.chain_active[i % 2], computed[i], stage.width);
    task.active = next_active.row(from);
    if (residual) {
      const Rows next_raw = Allocate(scratch.chain_raw[raws++ % 2], computed[i], stage.width);
      task.raw = next_raw.row(from);
      kernels::ParallelConvolve(task);
      raw = next_raw;
    } else {
      kernels::ParallelConvolve(task);
    }
    active = next_active;
    ClearOutside(active, rows.total);
  }
}

kernels::AlignedBuffer<float> Generator::SpeakerBias(int64_t speaker) const {
  auto bias = kernels::AlignedBuffer<float>::Zeros(static_cast<size_t>(pre_.out_channels()));
  std::copy_n(pre_.bias(), pre_.out_channels(), bias.data());
  if (!speakers_.defined()) return bias;
  const at::Tensor added =
      (at::matmul(speaker_.weight.squeeze(2), speakers_[speaker]) + speaker_.bias).contiguous();
  for (int64_t c = 0; c < added.numel(); ++c) bias.data()[c] += added.const_data_ptr<float>()[c];
  return bias;
}

bool Generator::Run(const Sentence& sentence, int64_t begin_frame, int64_t end_frame,
                    Scratch& scratch, float* samples,
                    const std::function<bool()>& should_stop) const {
  const int64_t frames = sentence.frames;
  scratch.stages.resize(stages_.size());
  const kernels::AlignedBuffer<float> bias = SpeakerBias(sentence.speaker);
  const Rows input = {const_cast<float*>(sentence.rows), 0, frames, pre_.in_channels()};
  const int64_t post_margin = (post_taps_ - 1) / 2;

  // The rows of each stage's output that samples [begin, end) need.
  std::vector<Range> ranges(stages_.size());
  const auto find_ranges = [&](int64_t begin, int64_t end) {
    ranges.back() = {begin - post_margin, end + post_margin};
    for (size_t i = stages_.size() - 1; i > 0; --i)
      ranges[i - 1] = InputRows(stages_[i], ranges[i]);
  };

  for (int64_t outer = begin_frame; outer < end_frame; outer += kOuterFrames) {
    const int64_t outer_end = std::min(outer + kOuterFrames, end_frame);
    find_ranges(outer * hop_, outer_end * hop_);
    const Range of_pre = InputRows(stages_.front(), ranges.front());
    const Rows pre = RunPre(input, frames, of_pre, bias.data(), scratch);
    const Rows first = RunStage(0, pre, frames, ranges.front(), scratch.stages[0]);
    for (int64_t inner = outer; inner < outer_end; inner += kInnerFrames) {
      if (should_stop()) return false;
      const int64_t begin = inner * hop_;
      const int64_t end = std::min(inner + kInnerFrames, outer_end) * hop_;
      find_ranges(begin, end);
      Rows signal = first;
      int64_t total = frames * stages_.front().stride;
      for (size_t i = 1; i < stages_.size(); ++i) {
        signal = RunStage(i, signal, total, ranges[i], scratch.stages[i]);
        total *= stages_[i].stride;
      }
      kernels::GetConvKernels().tanh_dot(signal.row(begin - post_margin), signal.width,
                                         post_.data(), post_taps_ * signal.width, post_bias_,
                                         samples + begin - begin_frame * hop_, end - begin);
    }
  }
  return true;
}

}  // namespace millrace::vits
