#include "models/kokoro/fused_stage.h"

#include <ATen/TensorOperators.h>

#include <tuple>
#include <utility>

#include "models/core/strings.h"
#include "models/speech/row_operators.h"
#include "mps_runtime/device_operator.h"

namespace millrace::kokoro {
namespace {

using speech::RowOperators;

using WhyNot = std::string(const at::Tensor& weight);
using SnakeBlock = at::Tensor(const at::Tensor& rows, const at::Tensor& moments,
                              const at::Tensor& styles, const at::Tensor& counts,
                              at::TensorList weights, at::IntArrayRef dilations,
                              const std::optional<at::Tensor>& bias,
                              const std::optional<at::Tensor>& added);

// The products of blocks are tiled by so many outputs.
constexpr int64_t kBlockColumns = 2 * speech::kRowChunk;

}  // namespace

std::optional<FusedStage> FusedStage::Make(const KokoroUpsampling& up,
                                           const std::vector<AtenSnakeBlock>& blocks,
                                           std::string& why_not) {
  why_not.clear();
  if (!up.weight().is_cuda() || !RowOperators::Get()) return std::nullopt;
  static const auto why_not_blocks =
      *runtime::FindDeviceOperator<WhyNot>("millrace_kokoro::why_not");
  const int64_t stride = up.stride();
  if (up.weight().size(2) != 2 * stride || up.in_channels() % speech::kRowChunk != 0 ||
      up.out_channels() % kBlockColumns != 0) {
    why_not = StrCat("an upsampling from ", up.in_channels(), " to ", up.out_channels(),
                     " channels has ", up.weight().size(2), " taps");
    return std::nullopt;
  }
  FusedStage stage;
  stage.stride_ = stride;
  stage.up_weight_ = speech::PackTransposedForRows(up.weight(), stride);
  stage.up_bias_ = up.bias().contiguous();
  why_not = why_not_blocks.call(stage.up_weight_);
  if (why_not.empty()) why_not = speech::WhyNotPacked(stage.up_weight_, 1);
  for (const AtenSnakeBlock& block : blocks) {
    Block fused;
    fused.affine = block.affine();
    if (block.bias().defined()) fused.bias = block.bias().flatten().contiguous();
    for (const AtenSnakeBlock::Layer& layer : block.layers()) {
      fused.weights.push_back(speech::PackForRows(layer.weight));
      fused.dilations.push_back(layer.dilation);
      if (why_not.empty()) why_not = speech::WhyNotPacked(fused.weights.back(), layer.dilation);
    }
    stage.blocks_.push_back(std::move(fused));
  }
  if (!why_not.empty()) return std::nullopt;
  return stage;
}

FusedStage::Signal FusedStage::Begin(const at::Tensor& signal, const KokoroExtent& extent) {
  return {
      std::get<0>(RowOperators::Get()->rows_of_channels.call(signal, extent.counts.contiguous()))};
}

FusedStage::Signal FusedStage::Run(const Signal& signal, const KokoroExtent& before, double slope,
                                   const at::Tensor& source, const at::Tensor& style,
                                   const KokoroExtent& extent, bool reflected) const {
  const RowOperators& operators = *RowOperators::Get();
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
  return RowOperators::Get()->channels_of_rows.call(signal.rows, extent.counts.contiguous(),
                                                    signal.factor, slope);
}

at::Tensor FusedStage::RunBlock(const Block& block, const at::Tensor& rows,
                                const at::Tensor& moments, const at::Tensor& style,
                                const at::Tensor& counts, const std::optional<at::Tensor>& added) {
  static const auto run = *runtime::FindDeviceOperator<SnakeBlock>("millrace_kokoro::snake_block");
  return run.call(rows, moments, block.affine.Run(style).contiguous(), counts, block.weights,
                  block.dilations, block.bias, added);
}

}  // namespace millrace::kokoro
