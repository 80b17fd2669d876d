#include "models/seq2seq/aten/transformer.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/_addmm_activation.h>
#include <ATen/ops/_scaled_dot_product_efficient_attention.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/argmax.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/silu.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "mps_runtime/linear.h"

namespace millrace::seq2seq {
namespace {

// The most positions of a row: more than any network has.
constexpr int64_t kWidest = 1 << 16;

at::Tensor Linear(const AtenLinear& layer, const at::Tensor& x) {
  return runtime::Linear(x, layer.weight, layer.bias);
}

// Takes queries [rows, tokens, heads, size], keys and values [rows, width, heads, size], and a mask
// that broadcasts to [rows, heads, tokens, width]. Returns [rows * tokens, heads * size].
at::Tensor Attend(const at::Tensor& queries, const at::Tensor& keys, const at::Tensor& values,
                  const at::Tensor& mask) {
  const at::Tensor q = queries.transpose(1, 2);
  const at::Tensor k = keys.transpose(1, 2);
  const at::Tensor v = values.transpose(1, 2);
  at::Tensor mixed;
  if (q.is_cuda()) {
    // The kernel is called by name: which one libtorch chooses differs between versions, and some
    // choose again for each shape, which a graph cannot capture.
    mixed = std::get<0>(at::_scaled_dot_product_efficient_attention(
        q, k, v, mask.expand({q.size(0), q.size(1), q.size(2), k.size(2)}),
        /*compute_log_sumexp=*/false));
  } else {
    mixed = at::scaled_dot_product_attention(q, k, v, mask);
  }
  return mixed.transpose(1, 2).reshape({q.size(0) * q.size(2), q.size(1) * q.size(3)});
}

at::Tensor Gather(const at::Tensor& cache, const at::Tensor& slots) {
  if (!cache.is_cuda()) return cache.index_select(0, slots);
  // Copies 16 bytes at a time.
  return cache.view(at::kComplexDouble).index_select(0, slots).view(cache.scalar_type());
}

// Splits keys and values that lie side by side, [rows * width, 2 * dim].
std::pair<at::Tensor, at::Tensor> SplitMemory(const at::Tensor& memory, int64_t rows,
                                              int64_t heads) {
  const at::Tensor parts =
      memory.view({rows, memory.size(0) / rows, 2, heads, memory.size(1) / (2 * heads)});
  return {parts.select(2, 0), parts.select(2, 1)};
}

// Returns where the attention weights of all heads together are greatest, int64 [rows], for queries
// [rows, 1, heads, size] and keys [rows, width, heads, size].
at::Tensor PeaksOf(const at::Tensor& queries, const at::Tensor& keys, const at::Tensor& mask) {
  const double scale = 1 / std::sqrt(static_cast<double>(queries.size(3)));
  const at::Tensor scores = (queries.to(at::kFloat) * keys).sum(-1) * scale;
  const at::Tensor beyond = mask.view({mask.size(0), mask.size(3), 1});
  return at::argmax(at::softmax(scores + beyond, 1).sum(-1), 1);
}

}  // namespace

Transformer::Transformer(TransformerWeights weights)
    : weights_(std::move(weights)),
      counting_(at::arange(
          kWidest, at::TensorOptions().dtype(at::kLong).device(weights_.positions.device()))) {}

at::Tensor Transformer::Embed(const at::Tensor& embeddings, const at::Tensor& tokens,
                              const at::Tensor& places) const {
  return embeddings.index_select(0, tokens) * weights_.embedding_scale +
         weights_.positions.index_select(0, places);
}

at::Tensor Transformer::Norm(const AtenNorm& norm, const at::Tensor& x) const {
  return at::layer_norm(x, {x.size(-1)}, norm.scale, norm.bias, weights_.norm_epsilon);
}

template <typename F>
at::Tensor Transformer::Sublayer(const AtenNorm& norm, const at::Tensor& x, const F& f) const {
  if (weights_.norm_first) return x + f(Norm(norm, x));
  return Norm(norm, x + f(x));
}

at::Tensor Transformer::FeedForward(const AtenFeedForward& layer, const at::Tensor& x) const {
  return Sublayer(layer.norm, x, [&](const at::Tensor& in) {
    if (weights_.swish) return Linear(layer.contract, at::silu(Linear(layer.expand, in)));
    // CUDA has one kernel for both.
    return Linear(layer.contract, in.is_cuda() ? at::_addmm_activation(layer.expand.bias, in,
                                                                       layer.expand.weight.t())
                                               : at::relu(Linear(layer.expand, in)));
  });
}

at::Tensor Transformer::MaskBeyond(const at::Tensor& lengths, int64_t width) const {
  const at::Tensor beyond = counting_.narrow(0, 0, width).ge(lengths.unsqueeze(1));
  return at::zeros({lengths.size(0), width}, weights_.positions.options())
      .masked_fill_(beyond, -std::numeric_limits<double>::infinity())
      .view({lengths.size(0), 1, 1, width});
}

at::Tensor Transformer::Logits(const at::Tensor& x) const {
  const AtenLinear& output = weights_.output;
  // In float16, which has 11 bits, different scores would become equal.
  const at::Tensor scores = x.is_cuda() && x.scalar_type() != at::kFloat
                                ? at::mm(x, output.weight.t(), at::kFloat)
                                : runtime::Linear(x, output.weight);
  return scores + output.bias;
}

at::Tensor Transformer::Encode(const at::Tensor& tokens, const at::Tensor& lengths) const {
  const int64_t rows = lengths.size(0);
  const int64_t width = tokens.size(0) / rows;
  const int64_t heads = weights_.encoder_heads;
  const at::Tensor mask = MaskBeyond(lengths, width);
  at::Tensor x =
      Embed(weights_.source_embeddings, tokens, counting_.narrow(0, 0, width).repeat({rows}));
  for (const AtenEncoderLayer& layer : weights_.encoder) {
    x = Sublayer(layer.norm, x, [&](const at::Tensor& in) {
      const at::Tensor parts = Linear(layer.inputs, in).view({rows, width, 3, heads, -1});
      return Linear(layer.output,
                    Attend(parts.select(2, 0), parts.select(2, 1), parts.select(2, 2), mask));
    });
    x = FeedForward(layer.feed_forward, x);
  }
  if (weights_.norm_first) x = Norm(weights_.encoder_norm, x);
  return Linear(weights_.memory, x)
      .view({rows * width, static_cast<int64_t>(weights_.decoder.size()), 2 * weights_.dim()})
      .transpose(0, 1);
}

Transformer::StepMasks Transformer::MasksOf(const DecoderStepInput& input) const {
  const int64_t rows = input.tokens.size(0);
  return {MaskBeyond(input.positions + 1, input.path.size(0) / rows),
          MaskBeyond(input.source_lengths, input.sources.size(0) / rows)};
}

at::Tensor Transformer::RunDecoderLayer(size_t index, const DecoderStepInput& input,
                                        const StepMasks& masks, const DeviceKvCache& cache,
                                        at::Tensor x, at::Tensor* peaks) const {
  const AtenDecoderLayer& layer = weights_.decoder[index];
  const at::Tensor& tokens = cache[index];
  const int64_t rows = input.tokens.size(0);
  const int64_t dim = weights_.dim();
  const int64_t heads = weights_.decoder_heads;
  x = Sublayer(layer.norm, x, [&](const at::Tensor& in) {
    const at::Tensor parts = Linear(layer.inputs, in);
    tokens.index_copy_(0, input.slots, parts.narrow(1, dim, 2 * dim));
    const auto [keys, values] = SplitMemory(Gather(tokens, input.path), rows, heads);
    const at::Tensor query = parts.narrow(1, 0, dim).view({rows, 1, heads, -1});
    return Linear(layer.output, Attend(query, keys, values, masks.path));
  });
  x = Sublayer(layer.cross_norm, x, [&](const at::Tensor& in) {
    const auto [keys, values] = SplitMemory(Gather(tokens, input.sources), rows, heads);
    const at::Tensor query = Linear(layer.cross_query, in).view({rows, 1, heads, -1});
    if (peaks != nullptr) *peaks = PeaksOf(query, keys, masks.source);
    return Linear(layer.cross_output, Attend(query, keys, values, masks.source));
  });
  return FeedForward(layer.feed_forward, x);
}

at::Tensor Transformer::Step(const DecoderStepInput& input, const DeviceKvCache& cache) const {
  const StepMasks masks = MasksOf(input);
  at::Tensor x = Embed(weights_.target_embeddings, input.tokens, input.positions);
  for (size_t i = 0; i < weights_.decoder.size(); ++i)
    x = RunDecoderLayer(i, input, masks, cache, x, nullptr);
  if (weights_.norm_first) x = Norm(weights_.decoder_norm, x);
  return Logits(x);
}

at::Tensor Transformer::Align(const DecoderStepInput& input, const DeviceKvCache& cache) const {
  const StepMasks masks = MasksOf(input);
  const size_t last = std::max<size_t>(weights_.decoder.size(), 2) - 2;
  at::Tensor x = Embed(weights_.target_embeddings, input.tokens, input.positions);
  at::Tensor peaks;
  for (size_t i = 0; i <= last; ++i)
    x = RunDecoderLayer(i, input, masks, cache, x, i == last ? &peaks : nullptr);
  return peaks;
}

}  // namespace millrace::seq2seq
