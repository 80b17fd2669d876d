#include "models/bergamot/int8_encoder.h"

#include <algorithm>

namespace millrace::bergamot {
namespace {

PackedMatrix PackMemory(const BergamotWeights& weights) {
  std::vector<const LinearWeights*> parts;
  for (const DecoderLayerWeights& layer : weights.decoder) {
    parts.push_back(&layer.cross.key);
    parts.push_back(&layer.cross.value);
  }
  return PackedMatrix(parts);
}

// Transposes rows of `dim` values, which lie `stride` apart, to [dim][padded].
void Transpose(const float* rows, int64_t stride, int64_t length, int64_t padded, int64_t dim,
               float* out) {
  for (int64_t d = 0; d < dim; ++d) {
    for (int64_t i = 0; i < length; ++i) out[i] = rows[i * stride + d];
    std::fill(out + length, out + padded, 0.0F);
    out += padded;
  }
}

}  // namespace

Int8Encoder::Int8Encoder(const BergamotWeights& weights, const Embeddings& embeddings,
                         const kernels::IntegerKernels& kernels)
    : kernels_(kernels),
      embeddings_(embeddings),
      dim_(weights.dim()),
      heads_(weights.heads),
      decoder_layers_(static_cast<int64_t>(weights.decoder.size())),
      memory_(PackMemory(weights)) {
  for (const EncoderLayerWeights& layer : weights.encoder) {
    const AttentionWeights& attention = layer.attention;
    layers_.push_back({PackedMatrix({&attention.query, &attention.key, &attention.value}),
                       PackedMatrix({&attention.output}), attention.norm,
                       FeedForward(layer.feed_forward)});
  }
}

std::vector<std::vector<SentenceMemory>> Int8Encoder::Encode(
    std::span<const std::span<const int32_t>> sources) const {
  int64_t rows = 0;
  for (const auto& source : sources) rows += static_cast<int64_t>(source.size());
  int64_t hidden_units = 0;
  for (const Layer& layer : layers_) {
    hidden_units = std::max(hidden_units, layer.feed_forward.hidden_units());
  }
  const int64_t wide = std::max(3 * dim_, memory_.outputs());
  LayerBuffers buffers(rows, dim_, hidden_units, wide);
  kernels::AlignedBuffer<float> x(static_cast<size_t>(rows * dim_));
  float* row = x.data();
  for (const auto& source : sources) {
    for (size_t i = 0; i < source.size(); ++i, row += dim_) {
      embeddings_.LookupSource(source[i], static_cast<int64_t>(i), row);
    }
  }
  for (const Layer& layer : layers_) {
    Attend(layer, sources, rows, buffers, x.data());
    layer.feed_forward.Run(kernels_, x.data(), rows, buffers);
  }
  Multiply(kernels_, memory_, x.data(), rows, buffers.quantised, buffers.wide.data());
  std::vector<std::vector<SentenceMemory>> memories;
  const int64_t stride = memory_.outputs();
  const float* first = buffers.wide.data();
  for (const auto& source : sources) {
    auto& layers = memories.emplace_back();
    const auto length = static_cast<int64_t>(source.size());
    for (int64_t layer = 0; layer < decoder_layers_; ++layer) {
      SentenceMemory& memory = layers.emplace_back(length, dim_);
      const float* keys = first + 2 * layer * dim_;
      Transpose(keys, stride, length, memory.padded, dim_, memory.keys.data());
      for (int64_t i = 0; i < length; ++i) {
        std::copy_n(keys + dim_ + i * stride, dim_, memory.values.data() + i * dim_);
      }
    }
    first += length * stride;
  }
  return memories;
}

void Int8Encoder::Attend(const Layer& layer, std::span<const std::span<const int32_t>> sources,
                         int64_t rows, LayerBuffers& buffers, float* x) const {
  Multiply(kernels_, layer.query_key_value, x, rows, buffers.quantised, buffers.wide.data());
  int64_t longest = 1;
  for (const auto& source : sources) {
    longest = std::max(longest, static_cast<int64_t>(source.size()));
  }
  const int64_t most = kernels::PadLength(longest);
  kernels::AlignedBuffer<float> keys(static_cast<size_t>(most * dim_));
  kernels::AlignedBuffer<float> scores(
      static_cast<size_t>(kernels::AttentionArgs::kQueriesTogether * most));
  const int64_t stride = 3 * dim_;
  const float* first = buffers.wide.data();
  float* out = buffers.mixed.data();
  for (const auto& source : sources) {
    kernels::AttentionArgs args;
    args.length = static_cast<int64_t>(source.size());
    args.padded = kernels::PadLength(args.length);
    Transpose(first + dim_, stride, args.length, args.padded, dim_, keys.data());
    args.queries = first;
    args.query_stride = stride;
    args.query_count = args.length;
    args.keys = keys.data();
    args.values = first + 2 * dim_;
    args.value_stride = stride;
    args.dim = dim_;
    args.heads = heads_;
    args.scores = scores.data();
    args.out = out;
    args.out_stride = dim_;
    kernels_.attend(args);
    first += args.length * stride;
    out += args.length * dim_;
  }
  // This overwrites queries, keys and values, which are no longer needed.
  Multiply(kernels_, layer.output, buffers.mixed.data(), rows, buffers.quantised,
           buffers.wide.data());
  AddNorm(kernels_, layer.norm, buffers.wide.data(), rows, x);
}

}  // namespace millrace::bergamot
