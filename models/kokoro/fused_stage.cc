#include "models/kokoro/fused_stage.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/flip.h>

#include <tuple>
#include <utility>

#include "models/core/strings.h"
#include "models/kokoro/fused_operators.h"

namespace millrace::kokoro {
namespace {

// The weight of a transposed convolution, [in, out, 2 * stride], as that of a product with two taps
// whose columns are [stride, out]: the first tap reads the value before, to which the later half
// of the weight belongs.
at::Tensor PackTransposed(const at::Tensor& weight, int64_t stride) {
  const int64_t in = weight.size(0);
  const int64_t out = weight.size(1);
  return at::flip(weight.to(at::kHalf).view({in / kRowChunk, kRowChunk, out, 2, stride}), {3})
      .permute({0, 3, 4, 2, 1})
      .contiguous()
      .view({in / kRowChunk, 2, stride * out, kRowChunk});
}

}  // namespace

std::optional<FusedStage> FusedStage::Make(const KokoroUpsampling& up,
                                           const std::vector<AtenSnakeBlock>& blocks,
                                           std::string& why_not) {
  why_not.clear();
  if (!up.weight().is_cuda() || !FusedOperators::Get()) return std::nullopt;
  const int64_t stride = up.stride();
  if (up.weight().size(2) != 2 * stride || up.in_channels() % kRowChunk != 0 ||
      up.out_channels() % kRowColumns != 0) {
    why_not = StrCat("an upsampling from ", up.in_channels(), " to ", up.out_channels(),
                     " channels has ", up.weight().size(2), " taps");
    return std::nullopt;
  }
  FusedStage stage;
  stage.stride_ = stride;
  stage.up_weight_ = PackTransposed(up.weight(), stride);
  stage.up_bias_ = up.bias().contiguous();
  why_not = WhyNotPacked(stage.up_weight_, 1);
  for (const AtenSnakeBlock& block : blocks) {
    Block fused;
    fused.affine = block.affine();
    if (block.bias().defined()) fused.bias = block.bias().flatten().contiguous();
    for (const AtenSnakeBlock::Layer& layer : block.layers()) {
      fused.weights.push_back(PackForRows(layer.weight));
      fused.dilations.push_back(layer.dilation);
      if (why_not.empty()) why_not = WhyNotPacked(fused.weights.back(), layer.dilation);
    }
    stage.blocks_.push_back(std::move(fused));
  }
  if (!why_not.empty()) return std::nullopt;
  return stage;
}

FusedStage::Signal FusedStage::Begin(const at::Tensor& signal, const KokoroExtent& extent) {
  return {std::get<0>(
      FusedOperators::Get()->rows_of_channels.call(signal, extent.counts.contiguous()))};
}

FusedStage::Signal FusedStage::Run(const Signal& signal, const KokoroExtent& before, double slope,
                                   const at::Tensor& source, const at::Tensor& style,
                                   const KokoroExtent& extent, bool reflected) const {
  const FusedOperators& operators = *FusedOperators::Get();
  const at::Tensor counts = extent.counts.contiguous();
  const auto [source_rows, source_moments] = operators.rows_of_channels.call(source, counts);
  const at::Tensor joined =
      RunBlock(blocks_.front(), source_rows, source_moments, style, counts, std::nullopt);
  const auto [rows, moments] =
      operators.upsample.call(signal.rows, before.counts.contiguous(), up_weight_, up_bias_,
                              signal.factor, slope, stride_, reflected, joined);
  std::optional<at::Tensor> sum;
  for (size_t i = 1; i < blocks_.size(); ++i)
    sum = RunBlock(blocks_[i], rows, moments, style, counts, sum);
  return {*sum, 1 / static_cast<double>(blocks_.size() - 1)};
}

at::Tensor FusedStage::End(const Signal& signal, const KokoroExtent& extent, double slope) {
  return FusedOperators::Get()->channels_of_rows.call(signal.rows, extent.counts.contiguous(),
                                                      signal.factor, slope);
}

at::Tensor FusedStage::RunBlock(const Block& block, const at::Tensor& rows,
                                const at::Tensor& moments, const at::Tensor& style,
                                const at::Tensor& counts, const std::optional<at::Tensor>& added) {
  return FusedOperators::Get()->snake_block.call(rows, moments,
                                                 block.affine.Run(style).contiguous(), counts,
                                                 block.weights, block.dilations, block.bias, added);
}

}  // namespace millrace::kokoro
