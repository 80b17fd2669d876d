#include "models/bergamot/int8_decoder.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace millrace::bergamot {

OutputTokens::OutputTokens(std::span<const int32_t> candidates,
                           std::span<const int32_t> all_corrections,
                           std::span<const float> all_bias)
    : tokens(candidates.begin(), candidates.end()) {
  const auto padded =
      static_cast<size_t>(kernels::PadLength(static_cast<int64_t>(candidates.size())));
  tokens.resize(padded, candidates.front());
  corrections.reserve(padded);
  bias.reserve(padded);
  for (const int32_t token : tokens) {
    corrections.push_back(all_corrections[static_cast<size_t>(token)]);
    bias.push_back(all_bias[static_cast<size_t>(token)]);
  }
  std::fill(bias.begin() + static_cast<std::ptrdiff_t>(candidates.size()), bias.end(),
            -std::numeric_limits<float>::infinity());
}

DecoderBatch::DecoderBatch(std::vector<Row> rows, size_t layers, int64_t dim)
    : dim_(dim), rows_(std::move(rows)) {
  for (size_t layer = 0; layer < layers; ++layer) {
    cells_.emplace_back(rows_.size() * static_cast<size_t>(dim));
    float* cells = cells_.back().data();
    for (const Row& row : rows_) {
      const std::vector<float>& kept = row.sentence->cells;
      if (kept.empty()) {
        std::fill_n(cells, dim, 0.0F);
      } else {
        std::copy_n(kept.data() + static_cast<int64_t>(layer) * dim, dim, cells);
      }
      cells += dim;
    }
  }
}

void DecoderBatch::StoreCells() const {
  for (size_t i = 0; i < rows_.size(); ++i) {
    std::vector<float>& kept = rows_[i].sentence->cells;
    kept.resize(cells_.size() * static_cast<size_t>(dim_));
    float* out = kept.data();
    for (const kernels::AlignedBuffer<float>& cells : cells_)
      out = std::copy_n(cells.data() + static_cast<int64_t>(i) * dim_, dim_, out);
  }
}

void DecoderBatch::Move(size_t from, size_t to) {
  rows_[to] = rows_[from];
  for (kernels::AlignedBuffer<float>& cells : cells_) {
    std::copy_n(cells.data() + static_cast<int64_t>(from) * dim_, dim_,
                cells.data() + static_cast<int64_t>(to) * dim_);
  }
}

Int8Decoder::Int8Decoder(const BergamotWeights& weights, const Embeddings& embeddings,
                         const kernels::IntegerKernels& kernels)
    : kernels_(kernels), embeddings_(embeddings), weights_(weights) {
  const Int8Matrix& matrix = weights.target_embeddings;
  corrections_.reserve(static_cast<size_t>(matrix.outputs));
  for (int64_t token = 0; token < matrix.outputs; ++token) {
    corrections_.push_back(Correction(matrix.values + token * matrix.inputs, matrix.inputs));
  }
  for (const DecoderLayerWeights& layer : weights.decoder) {
    layers_.push_back({PackedMatrix({&layer.forget, &layer.candidate}), layer.norm,
                       PackedMatrix({&layer.cross.query}), PackedMatrix({&layer.cross.output}),
                       layer.cross.norm, FeedForward(layer.feed_forward)});
  }
}

OutputTokens Int8Decoder::TokensFor(std::span<const int32_t> candidates) const {
  return OutputTokens(candidates, corrections_, weights_.output_bias);
}

LayerBuffers Int8Decoder::MakeBuffers(int64_t rows) const {
  int64_t hidden_units = 0;
  for (const Layer& layer : layers_) {
    hidden_units = std::max(hidden_units, layer.feed_forward.hidden_units());
  }
  return LayerBuffers(rows, weights_.dim(), hidden_units, 2 * weights_.dim());
}

void Int8Decoder::Step(DecoderBatch& batch, LayerBuffers& buffers) const {
  const int64_t dim = weights_.dim();
  kernels::AlignedBuffer<float> x(static_cast<size_t>(batch.size() * dim));
  float* row = x.data();
  for (const DecoderBatch::Row& entry : batch.rows()) {
    DecodedSentence& sentence = *entry.sentence;
    embeddings_.LookupTarget(sentence.last_token, sentence.position++, row);
    row += dim;
  }
  for (size_t i = 0; i < layers_.size(); ++i) {
    const Layer& layer = layers_[i];
    Multiply(kernels_, layer.gates, x.data(), batch.size(), buffers.quantised, buffers.wide.data());
    kernels_.ssru(buffers.wide.data(), batch.size(), dim, batch.cells(i), buffers.mixed.data());
    AddNorm(kernels_, layer.norm, buffers.mixed.data(), batch.size(), x.data());
    Attend(layer, i, batch, buffers, x.data());
    layer.feed_forward.Run(kernels_, x.data(), batch.size(), buffers);
  }
  Choose(batch, buffers, x.data());
}

void Int8Decoder::Attend(const Layer& layer, size_t index, DecoderBatch& batch,
                         LayerBuffers& buffers, float* x) const {
  const int64_t dim = weights_.dim();
  Multiply(kernels_, layer.query, x, batch.size(), buffers.quantised, buffers.wide.data());
  int64_t longest = 0;
  for (const DecoderBatch::Row& row : batch.rows()) {
    longest = std::max(longest, row.sentence->memory[index].padded);
  }
  kernels::AlignedBuffer<float> scores(static_cast<size_t>(longest));
  kernels::AlignedBuffer<float> attended(static_cast<size_t>(longest));
  const float* query = buffers.wide.data();
  float* out = buffers.mixed.data();
  for (const DecoderBatch::Row& row : batch.rows()) {
    const SentenceMemory& memory = row.sentence->memory[index];
    kernels::AttentionArgs args;
    args.queries = query;
    args.query_stride = dim;
    args.query_count = 1;
    args.keys = memory.keys.data();
    args.values = memory.values.data();
    args.value_stride = dim;
    args.length = memory.length;
    args.padded = memory.padded;
    args.dim = dim;
    args.heads = weights_.heads;
    args.scores = scores.data();
    args.out = out;
    args.out_stride = dim;
    // The last layer was trained to align.
    const bool align = row.sentence->align && index + 1 == layers_.size();
    if (align) args.attended = attended.data();
    kernels_.attend(args);
    if (align) {
      const float* const peak = std::max_element(attended.data(), attended.data() + memory.length);
      row.sentence->alignment.push_back(static_cast<int32_t>(peak - attended.data()));
    }
    query += dim;
    out += dim;
  }
  Multiply(kernels_, layer.output, buffers.mixed.data(), batch.size(), buffers.quantised,
           buffers.wide.data());
  AddNorm(kernels_, layer.cross_norm, buffers.wide.data(), batch.size(), x);
}

void Int8Decoder::Choose(DecoderBatch& batch, LayerBuffers& buffers, const float* x) const {
  const Int8Matrix& matrix = weights_.target_embeddings;
  const kernels::Activations activations = buffers.quantised.view(matrix.inputs);
  kernels_.quantise(x, batch.size(), activations);
  std::vector<float> logits;
  for (int64_t i = 0; i < batch.size(); ++i) {
    DecodedSentence& sentence = *batch.rows()[static_cast<size_t>(i)].sentence;
    const OutputTokens& output = sentence.output;
    logits.resize(output.tokens.size());
    kernels::LogitsArgs args;
    args.activation = activations.values + 2 * i * matrix.inputs;
    args.scale = activations.scales[i] / matrix.multiplier;
    args.matrix = matrix.values;
    args.inputs = matrix.inputs;
    args.rows = output.tokens.data();
    args.corrections = output.corrections.data();
    args.bias = output.bias.data();
    args.count = static_cast<int64_t>(logits.size());
    args.out = logits.data();
    kernels_.logits(args);
    // Ties go to the lowest token on every CPU, because the tokens ascend.
    const auto best = std::max_element(logits.begin(), logits.end());
    sentence.last_token = output.tokens[static_cast<size_t>(best - logits.begin())];
  }
}

}  // namespace millrace::bergamot
