#include "models/kokoro/fused_stage.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/flip.h>
#include <ATen/ops/isfinite.h>

#include <tuple>
#include <utility>

#include "models/core/strings.h"

namespace millrace::kokoro {
namespace {

constexpr int64_t kChunk = 64;     // channels of the input that are together in memory
constexpr int64_t kColumns = 128;  // channels of the result that a block of threads computes

using WhyNot = std::string(const at::Tensor& weight, int64_t dilation);
using RowsOfChannels = std::tuple<at::Tensor, at::Tensor>(const at::Tensor& signal,
                                                          const at::Tensor& counts);
using Upsample = std::tuple<at::Tensor, at::Tensor>(const at::Tensor& rows,
                                                    const at::Tensor& counts,
                                                    const at::Tensor& weight,
                                                    const at::Tensor& bias, double factor,
                                                    double slope, int64_t stride, bool reflected,
                                                    const at::Tensor& added);
using RunSnakeBlock = at::Tensor(const at::Tensor& rows, const at::Tensor& moments,
                                 const at::Tensor& styles, const at::Tensor& counts,
                                 at::TensorList weights, at::IntArrayRef dilations,
                                 const std::optional<at::Tensor>& bias,
                                 const std::optional<at::Tensor>& added);
using ChannelsOfRows = at::Tensor(const at::Tensor& rows, const at::Tensor& counts, double factor,
                                  double slope);

// The operators, which a module that is loaded before any model registers.
struct Operators {
  c10::TypedOperatorHandle<WhyNot> why_not;
  c10::TypedOperatorHandle<RowsOfChannels> rows_of_channels;
  c10::TypedOperatorHandle<Upsample> upsample;
  c10::TypedOperatorHandle<RunSnakeBlock> snake_block;
  c10::TypedOperatorHandle<ChannelsOfRows> channels_of_rows;

  // Returns none where no module registers them.
  static const std::optional<Operators>& Get() {
    static const std::optional<Operators>& operators = *new std::optional<Operators>(Find());
    return operators;
  }

 private:
  static std::optional<Operators> Find() {
    c10::Dispatcher& dispatcher = c10::Dispatcher::singleton();
    if (!dispatcher.findSchema({"millrace_kokoro::why_not", ""})) return std::nullopt;
    const auto find = [&](const char* name) { return dispatcher.findSchemaOrThrow(name, ""); };
    return Operators{
        .why_not = find("millrace_kokoro::why_not").typed<WhyNot>(),
        .rows_of_channels = find("millrace_kokoro::rows_of_channels").typed<RowsOfChannels>(),
        .upsample = find("millrace_kokoro::upsample").typed<Upsample>(),
        .snake_block = find("millrace_kokoro::snake_block").typed<RunSnakeBlock>(),
        .channels_of_rows = find("millrace_kokoro::channels_of_rows").typed<ChannelsOfRows>()};
  }
};

// [out, in, taps] to halves, [in / 64, taps, out, 64].
at::Tensor Pack(const at::Tensor& weight) {
  return weight.to(at::kHalf)
      .view({weight.size(0), weight.size(1) / kChunk, kChunk, weight.size(2)})
      .permute({1, 3, 0, 2})
      .contiguous();
}

// The weight of a transposed convolution, [in, out, 2 * stride], as that of a product with two taps
// whose columns are [stride, out]: the first tap reads the value before, to which the later half
// of the weight belongs.
at::Tensor PackTransposed(const at::Tensor& weight, int64_t stride) {
  const int64_t in = weight.size(0);
  const int64_t out = weight.size(1);
  return at::flip(weight.to(at::kHalf).view({in / kChunk, kChunk, out, 2, stride}), {3})
      .permute({0, 3, 4, 2, 1})
      .contiguous()
      .view({in / kChunk, 2, stride * out, kChunk});
}

// Returns the reason why the operators cannot run a packed weight, or an empty string.
std::string WhyNotPacked(const at::Tensor& weight, int64_t dilation) {
  // The kernels copy the next rows during all taps but the last.
  if (weight.size(1) < 2) return "a convolution has one tap";
  if (!at::isfinite(weight).all().item<bool>()) return "a weight is too large for half precision";
  return Operators::Get()->why_not.call(weight, dilation);
}

}  // namespace

std::optional<FusedStage> FusedStage::Make(const KokoroUpsampling& up,
                                           const std::vector<AtenSnakeBlock>& blocks,
                                           std::string& why_not) {
  why_not.clear();
  if (!up.weight().is_cuda() || !Operators::Get()) return std::nullopt;
  const int64_t stride = up.stride();
  if (up.weight().size(2) != 2 * stride || up.in_channels() % kChunk != 0 ||
      up.out_channels() % kColumns != 0) {
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
      fused.weights.push_back(Pack(layer.weight));
      fused.dilations.push_back(layer.dilation);
      if (why_not.empty()) why_not = WhyNotPacked(fused.weights.back(), layer.dilation);
    }
    stage.blocks_.push_back(std::move(fused));
  }
  if (!why_not.empty()) return std::nullopt;
  return stage;
}

FusedStage::Signal FusedStage::Begin(const at::Tensor& signal, const KokoroExtent& extent) {
  return {std::get<0>(Operators::Get()->rows_of_channels.call(signal, extent.counts.contiguous()))};
}

FusedStage::Signal FusedStage::Run(const Signal& signal, const KokoroExtent& before, double slope,
                                   const at::Tensor& source, const at::Tensor& style,
                                   const KokoroExtent& extent, bool reflected) const {
  const Operators& operators = *Operators::Get();
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
  return Operators::Get()->channels_of_rows.call(signal.rows, extent.counts.contiguous(),
                                                 signal.factor, slope);
}

at::Tensor FusedStage::RunBlock(const Block& block, const at::Tensor& rows,
                                const at::Tensor& moments, const at::Tensor& style,
                                const at::Tensor& counts, const std::optional<at::Tensor>& added) {
  return Operators::Get()->snake_block.call(rows, moments, block.affine.Run(style).contiguous(),
                                            counts, block.weights, block.dilations, block.bias,
                                            added);
}

}  // namespace millrace::kokoro
