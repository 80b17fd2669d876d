#include "models/translation/seq2seq/float_decoder.h"

#include <algorithm>

namespace millrace::models {

FloatDecoder::FloatDecoder(const Seq2SeqWeights& weights, const Seq2SeqConfig& config,
                           const LayerSettings& settings, const FloatEmbeddings& embeddings,
                           const PackedLinear& output)
    : settings_(settings), embeddings_(embeddings), output_(output), heads_(config.decoder_heads) {
  for (const FloatDecoderLayerWeights& layer : weights.decoder) {
    layers_.push_back(
        {PackedLinear({layer.self.query, layer.self.key, layer.self.value}, settings.linear),
         PackedLinear({layer.self.output}, settings.linear), FloatNorm(layer.self.norm),
         PackedLinear({layer.cross.query}, settings.linear),
         PackedLinear({layer.cross.output}, settings.linear), FloatNorm(layer.cross.norm),
         FloatFeedForward(layer.feed_forward, settings.linear)});
  }
  if (config.norm_first) last_norm_.emplace_back(weights.decoder_norm);
}

void FloatDecoder::Step(std::span<const DecoderRow> rows, LayerScratch& scratch,
                        float* logits) const {
  const int64_t dim = settings_.dim;
  const auto count = static_cast<int64_t>(rows.size());
  AlignedBuffer<float> x(static_cast<size_t>(count * dim));
  float* row = x.data();
  for (const DecoderRow& hypothesis : rows) {
    embeddings_.Lookup(hypothesis.word, static_cast<int64_t>(hypothesis.path.size()) - 1, row);
    row += dim;
  }
  for (size_t i = 0; i < layers_.size(); ++i) {
    const Layer& layer = layers_[i];
    const auto index = static_cast<int64_t>(i);
    RunSublayer(settings_, layer.norm, x.data(), count, scratch, [&](const float* in, float* out) {
      AttendToPath(layer, index, rows, in, scratch, out);
    });
    RunSublayer(
        settings_, layer.cross_norm, x.data(), count, scratch,
        [&](const float* in, float* out) { AttendToSource(layer, index, rows, in, scratch, out); });
    layer.feed_forward.Run(settings_, x.data(), count, scratch);
  }
  for (const FloatNorm& norm : last_norm_) norm.Run(settings_, x.data(), count, x.data());
  output_.Multiply(x.data(), dim, count, scratch.narrow, logits);
}

void FloatDecoder::Attend(int64_t index, std::span<const float* const> tokens, const float* query,
                          LayerScratch& scratch, float* out) const {
  kernels::FloatAttention attention;
  attention.query = query;
  attention.tokens = tokens.data();
  attention.key = 2 * settings_.dim * index;
  attention.value = attention.key + settings_.dim;
  attention.count = static_cast<int64_t>(tokens.size());
  attention.heads = heads_;
  attention.size = settings_.dim / heads_;
  attention.scores = scratch.scores.Take(heads_ * kernels::PadScores(attention.count));
  attention.out = out;
  settings_.kernels.attend(attention);
}

void FloatDecoder::AttendToPath(const Layer& layer, int64_t index, std::span<const DecoderRow> rows,
                                const float* in, LayerScratch& scratch, float* out) const {
  const int64_t dim = settings_.dim;
  const int64_t stride = layer.inputs.width();
  const auto count = static_cast<int64_t>(rows.size());
  float* wide = scratch.wide.Take(count * stride);
  layer.inputs.Multiply(in, dim, count, scratch.narrow, wide);
  float* mixed = scratch.mixed.Take(count * dim);
  const float* query = wide;
  float* result = mixed;
  for (const DecoderRow& row : rows) {
    std::copy_n(query + dim, 2 * dim, row.path.back() + 2 * dim * index);
    Attend(index, row.path, query, scratch, result);
    query += stride;
    result += dim;
  }
  layer.output.Multiply(mixed, dim, count, scratch.narrow, out);
}

void FloatDecoder::AttendToSource(const Layer& layer, int64_t index,
                                  std::span<const DecoderRow> rows, const float* in,
                                  LayerScratch& scratch, float* out) const {
  const int64_t dim = settings_.dim;
  const auto count = static_cast<int64_t>(rows.size());
  float* queries = scratch.wide.Take(count * dim);
  layer.cross_query.Multiply(in, dim, count, scratch.narrow, queries);
  float* mixed = scratch.mixed.Take(count * dim);
  for (int64_t i = 0; i < count; ++i) {
    const SourceMemory& memory = *rows[static_cast<size_t>(i)].memory;
    Attend(index, memory.words(), queries + i * dim, scratch, mixed + i * dim);
  }
  layer.cross_output.Multiply(mixed, dim, count, scratch.narrow, out);
}

}  // namespace millrace::models
