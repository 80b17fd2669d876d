#include "models/seq2seq/aten/fused_decoder.h"

#include <ATen/ops/_addmm_activation.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/silu.h>

#include <limits>
#include <tuple>
#include <utility>

#include "mps_runtime/device_operator.h"

namespace millrace::seq2seq {
namespace {

constexpr int64_t kFewRows = 8;

using MaybeTensor = std::optional<at::Tensor>;
using Pair = std::tuple<at::Tensor, at::Tensor>;

using WhyNot = std::string(const at::Tensor& positions, int64_t heads, int64_t hidden);
using EmbedTokens = Pair(const at::Tensor& tokens, const at::Tensor& positions, int64_t more,
                         const at::Tensor& embeddings, const at::Tensor& places, double factor,
                         const MaybeTensor& scale, const MaybeTensor& bias, double epsilon);
using AddNorm = Pair(const at::Tensor& x, const MaybeTensor& added, const MaybeTensor& added_bias,
                     const at::Tensor& scale, const at::Tensor& bias, double epsilon,
                     bool want_sum);
using AttendSlots = at::Tensor(const at::Tensor& inputs, bool own, const at::Tensor& cache,
                               const at::Tensor& slots, const at::Tensor& counts, int64_t more);
using MultiplyFewRows = Pair(const at::Tensor& x, const MaybeTensor& scale,
                             const MaybeTensor& norm_bias, double epsilon, bool want_normed,
                             const at::Tensor& weight, const MaybeTensor& bias, int64_t activation,
                             const MaybeTensor& residual);
using ChooseTokens = at::Tensor(const at::Tensor& scores, const at::Tensor& bias,
                                const at::Tensor& forced, const at::Tensor& chosen);

// The activation of a product, as the operators number them.
enum Activation : uint8_t { kNone = 0, kRelu = 1, kSwish = 2 };

// The operators, which a module that is loaded before any model registers.
struct Operators {
  c10::TypedOperatorHandle<WhyNot> why_not;
  c10::TypedOperatorHandle<EmbedTokens> embed;
  c10::TypedOperatorHandle<AddNorm> add_norm;
  c10::TypedOperatorHandle<AttendSlots> attend;
  c10::TypedOperatorHandle<MultiplyFewRows> multiply_few_rows;
  c10::TypedOperatorHandle<ChooseTokens> choose_tokens;

  // Returns none where no module registers them.
  static const std::optional<Operators>& Get() {
    static const std::optional<Operators>& operators = *new std::optional<Operators>(Find());
    return operators;
  }

 private:
  static std::optional<Operators> Find() {
    using runtime::FindDeviceOperator;
    const auto why_not = FindDeviceOperator<WhyNot>("millrace_seq2seq::why_not");
    if (!why_not) return std::nullopt;
    return Operators{
        .why_not = *why_not,
        .embed = *FindDeviceOperator<EmbedTokens>("millrace_seq2seq::embed"),
        .add_norm = *FindDeviceOperator<AddNorm>("millrace_seq2seq::add_norm"),
        .attend = *FindDeviceOperator<AttendSlots>("millrace_seq2seq::attend"),
        .multiply_few_rows =
            *FindDeviceOperator<MultiplyFewRows>("millrace_seq2seq::multiply_few_rows"),
        .choose_tokens = *FindDeviceOperator<ChooseTokens>("millrace_seq2seq::choose_tokens")};
  }
};

}  // namespace

std::optional<FusedDecoder> FusedDecoder::Make(const TransformerWeights& weights,
                                               std::string& why_not) {
  why_not.clear();
  if (!weights.positions.is_cuda() || !Operators::Get() || weights.decoder.empty())
    return std::nullopt;
  why_not =
      Operators::Get()->why_not.call(weights.positions, weights.decoder_heads,
                                     weights.decoder.front().feed_forward.expand.weight.size(0));
  if (!why_not.empty()) return std::nullopt;
  return FusedDecoder(weights);
}

FusedDecoder::FusedDecoder(const TransformerWeights& weights)
    : weights_(weights), choice_bias_(weights.output.bias.clone()) {
  if (weights.suppressed.numel() > 0)
    choice_bias_.index_fill_(0, weights.suppressed, -std::numeric_limits<double>::infinity());
}

at::Tensor FusedDecoder::Step(const FusedStepsInput& input, const at::Tensor& tokens, int64_t step,
                              const DeviceKvCache& cache) const {
  const bool few = tokens.size(0) <= kFewRows;
  MaybeTensor scale;
  MaybeTensor bias;
  if (weights_.norm_first && !few) {
    scale = weights_.decoder.front().norm.scale;
    bias = weights_.decoder.front().norm.bias;
  }
  const auto [x, normed] = Operators::Get()->embed.call(
      tokens, input.positions, step, weights_.target_embeddings, weights_.positions,
      weights_.embedding_scale, scale, bias, weights_.norm_epsilon);
  const at::Tensor result =
      few ? RunFewRows(input, x, step, cache) : RunManyRows(input, x, normed, step, cache);
  // In float16, which has 11 bits, different scores would become equal.
  if (!few) return at::mm(result, weights_.output.weight.t(), at::kFloat);
  return std::get<0>(Operators::Get()->multiply_few_rows.call(
      result, std::nullopt, std::nullopt, 0, /*want_normed=*/false, weights_.output.weight,
      std::nullopt, kNone, std::nullopt));
}

// The norms are computed by the products that read them.
at::Tensor FusedDecoder::RunFewRows(const FusedStepsInput& input, at::Tensor x, int64_t step,
                                    const DeviceKvCache& cache) const {
  const Operators& operators = *Operators::Get();
  const bool norm_first = weights_.norm_first;
  // Returns the product of the norm of x, which takes the place of x unless norm_first.
  const auto multiply_norm = [&](const AtenNorm* norm, const AtenLinear& layer,
                                 Activation activation) {
    const bool keep = norm != nullptr && !norm_first;
    auto [result, normed] = operators.multiply_few_rows.call(
        x, norm != nullptr ? MaybeTensor(norm->scale) : std::nullopt,
        norm != nullptr ? MaybeTensor(norm->bias) : std::nullopt, weights_.norm_epsilon, keep,
        layer.weight, layer.bias, activation, std::nullopt);
    if (keep) x = normed;
    return result;
  };
  const auto add_product = [&](const at::Tensor& in, const AtenLinear& layer) {
    x = std::get<0>(operators.multiply_few_rows.call(in, std::nullopt, std::nullopt, 0,
                                                     /*want_normed=*/false, layer.weight,
                                                     layer.bias, kNone, x));
  };
  const AtenNorm* last_norm = nullptr;  // the layer before leaves it, unless norm_first
  for (size_t i = 0; i < weights_.decoder.size(); ++i) {
    const AtenDecoderLayer& layer = weights_.decoder[i];
    const at::Tensor inputs =
        multiply_norm(norm_first ? &layer.norm : last_norm, layer.inputs, kNone);
    add_product(operators.attend.call(inputs, /*own=*/true, cache[i], input.path, input.positions,
                                      step + 1),
                layer.output);
    const at::Tensor query =
        multiply_norm(norm_first ? &layer.cross_norm : &layer.norm, layer.cross_query, kNone);
    add_product(operators.attend.call(query, /*own=*/false, cache[i], input.sources,
                                      input.source_lengths, 0),
                layer.cross_output);
    const at::Tensor hidden =
        multiply_norm(norm_first ? &layer.feed_forward.norm : &layer.cross_norm,
                      layer.feed_forward.expand, weights_.swish ? kSwish : kRelu);
    add_product(hidden, layer.feed_forward.contract);
    last_norm = &layer.feed_forward.norm;
  }
  const AtenNorm& norm = norm_first ? weights_.decoder_norm : *last_norm;
  return std::get<1>(operators.add_norm.call(x, std::nullopt, std::nullopt, norm.scale, norm.bias,
                                             weights_.norm_epsilon, /*want_sum=*/false));
}

// normed: the input of the first layer, x or its norm.
at::Tensor FusedDecoder::RunManyRows(const FusedStepsInput& input, at::Tensor x, at::Tensor normed,
                                     int64_t step, const DeviceKvCache& cache) const {
  const Operators& operators = *Operators::Get();
  const bool norm_first = weights_.norm_first;
  const auto multiply = [](const at::Tensor& in, const AtenLinear& layer) {
    return at::addmm(layer.bias, in, layer.weight.t());
  };
  // norm: of the sum.
  const auto add_product = [&](const at::Tensor& in, const AtenLinear& layer,
                               const AtenNorm& norm) {
    auto [sum, next] =
        operators.add_norm.call(x, at::mm(in, layer.weight.t()), layer.bias, norm.scale, norm.bias,
                                weights_.norm_epsilon, /*want_sum=*/norm_first);
    x = std::move(sum);
    normed = std::move(next);
  };
  for (size_t i = 0; i < weights_.decoder.size(); ++i) {
    const AtenDecoderLayer& layer = weights_.decoder[i];
    add_product(operators.attend.call(multiply(normed, layer.inputs), /*own=*/true, cache[i],
                                      input.path, input.positions, step + 1),
                layer.output, norm_first ? layer.cross_norm : layer.norm);
    add_product(operators.attend.call(multiply(normed, layer.cross_query), /*own=*/false, cache[i],
                                      input.sources, input.source_lengths, 0),
                layer.cross_output, norm_first ? layer.feed_forward.norm : layer.cross_norm);
    const AtenLinear& expand = layer.feed_forward.expand;
    const at::Tensor hidden = weights_.swish
                                  ? at::silu(multiply(normed, expand))
                                  : at::_addmm_activation(expand.bias, normed, expand.weight.t());
    const bool last = i + 1 == weights_.decoder.size();
    const AtenNorm& after = last ? weights_.decoder_norm : weights_.decoder[i + 1].norm;
    add_product(hidden, layer.feed_forward.contract, norm_first ? after : layer.feed_forward.norm);
  }
  return normed;
}

at::Tensor FusedDecoder::Choose(const at::Tensor& scores, const at::Tensor& forced,
                                const at::Tensor& chosen) const {
  return Operators::Get()->choose_tokens.call(scores, choice_bias_, forced, chosen);
}

}  // namespace millrace::seq2seq
