#include "models/vits/fused_generator.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/full.h>

#include <tuple>
#include <utility>

#include "models/core/strings.h"
#include "models/speech/row_operators.h"

namespace millrace::vits {
namespace {

using speech::RowOperators;

// The channels of SamplesOfRows are a multiple of this.
constexpr int64_t kPiece = 8;

// Stages with fewer channels are split. Those next to the samples would be heard in half precision
// where the sound is faint: the spectrum would differ by up to 4 dB there, and split by less
// than 1.
constexpr int64_t kLeastHalfChannels = 128;

bool IsSplit(int64_t channels) { return channels < kLeastHalfChannels; }

int64_t Padding(int64_t channels) {
  return -channels & ((IsSplit(channels) ? speech::kSplitChannels : speech::kRowChunk) - 1);
}

// Makes the inputs and outputs, the sides of a weight [.., .., taps], what the operators need.
at::Tensor Prepare(const at::Tensor& weight, int64_t in_side) {
  const int64_t out_side = 1 - in_side;
  const bool split_in = IsSplit(weight.size(in_side)), split_out = IsSplit(weight.size(out_side));
  at::Tensor prepared =
      at::constant_pad_nd(weight, {0, 0, 0, Padding(weight.size(1)), 0, Padding(weight.size(0))});
  if (split_out) prepared = speech::SplitOutputs(prepared, out_side);
  return split_in ? speech::SplitInputs(prepared, in_side) : prepared;
}

std::optional<at::Tensor> PrepareBias(const at::Tensor& bias) {
  if (!bias.defined()) return std::nullopt;
  const at::Tensor padded = at::constant_pad_nd(bias, {0, Padding(bias.size(0))});
  return IsSplit(bias.size(0)) ? speech::SplitBias(padded) : padded.contiguous();
}

}  // namespace

FusedGenerator::Conv FusedGenerator::Pack(const VitsConv& conv) {
  return {speech::PackForRows(Prepare(conv.weight, /*in_side=*/1)), PrepareBias(conv.bias),
          conv.dilation};
}

std::optional<FusedGenerator> FusedGenerator::Make(const std::vector<VitsStage>& stages,
                                                   const VitsConv& post, std::string& why_not) {
  why_not.clear();
  if (!post.weight.is_cuda() || !RowOperators::Get()) return std::nullopt;
  const auto check = [&](const Conv& conv) {
    if (why_not.empty()) why_not = speech::WhyNotPacked(conv.weight, conv.dilation);
  };
  if (const int64_t channels = stages.front().up.weight.size(0);
      Padding(channels) != 0 || IsSplit(channels)) {
    why_not = StrCat("it begins with ", channels, " channels");
    return std::nullopt;
  }
  FusedGenerator generator;
  for (const VitsStage& stage : stages) {
    const VitsConv& up = stage.up;
    if (up.weight.size(2) != 2 * up.stride) {
      why_not = StrCat("an upsampling by ", up.stride, " has ", up.weight.size(2), " taps");
      return std::nullopt;
    }
    Stage fused;
    fused.stride = up.stride;
    fused.split = IsSplit(up.weight.size(1));
    fused.up.weight = speech::PackTransposedForRows(Prepare(up.weight, /*in_side=*/0), up.stride);
    fused.up.bias = PrepareBias(up.bias);
    check(fused.up);
    for (const VitsBlock& block : stage.blocks) {
      Block& packed = fused.blocks.emplace_back();
      for (const VitsConv& conv : block.convs) check(packed.convs.emplace_back(Pack(conv)));
      for (const VitsConv& conv : block.seconds) check(packed.seconds.emplace_back(Pack(conv)));
    }
    generator.stages_.push_back(std::move(fused));
  }
  if (why_not.empty() && post.weight.size(1) % kPiece != 0)
    why_not = StrCat("the last convolution has ", post.weight.size(1), " channels");
  if (!why_not.empty()) return std::nullopt;
  generator.post_ = post.weight[0].t().contiguous();
  if (post.bias.defined()) generator.post_bias_ = post.bias;
  return generator;
}

at::Tensor FusedGenerator::RowsOf(const at::Tensor& x) {
  return std::get<0>(RowOperators::Get()->rows_of_channels.call(
      x, at::full({1}, static_cast<double>(x.size(2)), x.options())));
}

at::Tensor FusedGenerator::Run(at::Tensor rows, const at::Tensor& gaps) const {
  const RowOperators& operators = *RowOperators::Get();
  double factor = 1;
  bool split = false;
  for (const Stage& stage : stages_) {
    rows = operators.masked_upsample.call(rows, stage.up.weight, stage.up.bias, factor, kSlope,
                                          stage.stride, gaps, split, stage.split);
    split = stage.split;
    at::Tensor sum;
    for (const Block& block : stage.blocks) {
      at::Tensor y = rows;
      for (size_t i = 0; i < block.convs.size(); ++i) {
        // The last layer adds the blocks before, too.
        std::vector<at::Tensor> added = {y};
        if (i + 1 == block.convs.size() && sum.defined()) added.push_back(sum);
        const auto convolve = [&](const Conv& conv, const at::Tensor& from, bool adds) {
          return operators.masked_convolve.call(from, conv.weight, conv.bias, conv.dilation, 1,
                                                kSlope, adds ? added : std::vector<at::Tensor>{},
                                                gaps, split);
        };
        if (block.seconds.empty()) {
          y = convolve(block.convs[i], y, /*adds=*/true);
        } else {
          y = convolve(block.seconds[i], convolve(block.convs[i], y, /*adds=*/false),
                       /*adds=*/true);
        }
      }
      sum = y;
    }
    rows = sum;
    factor = 1 / static_cast<double>(stage.blocks.size());
  }
  return operators.samples_of_rows.call(rows, post_, post_bias_, factor, kLastSlope, split);
}

}  // namespace millrace::vits
