#include "models/seq2seq/float_decoder.h"

#include <algorithm>

namespace millrace::seq2seq {
namespace {

// Returns the token with the greatest weight over all heads together.
int32_t PeakOf(const float* weights, size_t tokens, int64_t heads) {
  std::vector<float> sums(tokens);
  for (int64_t head = 0; head < heads; ++head) {
    for (size_t i = 0; i < tokens; ++i) sums[i] += weights[i];
    weights += kernels::PadScores(static_cast<int64_t>(tokens));
  }
  return static_cast<int32_t>(std::ranges::max_element(sums) - sums.begin());
}

}  // namespace

FloatDecoder::FloatDecoder(const Seq2SeqWeights& weights, const Seq2SeqConfig& config,
                           const LayerSettings& settings, const FloatEmbeddings& embeddings,
                           const kernels::PackedLinear& output)
    : settings_(settings), embeddings_(embeddings), output_(output), heads_(config.decoder_heads) {
  for (const FloatDecoderLayerWeights& layer : weights.decoder) {
    layers_.push_back(
        {kernels::PackedLinear({layer.self.query, layer.self.key, layer.self.value},
                               settings.linear),
         kernels::PackedLinear({layer.self.output}, settings.linear), FloatNorm(layer.self.norm),
         kernels::PackedLinear({layer.cross.query}, settings.linear),
         kernels::PackedLinear({layer.cross.output}, settings.linear), FloatNorm(layer.cross.norm),
         FloatFeedForward(layer.feed_forward, settings.linear)});
  }
  if (config.norm_first) last_norm_.emplace_back(weights.decoder_norm);
}

void FloatDecoder::Embed(std::span<const DecoderRow> rows, float* x) const {
  for (const DecoderRow& hypothesis : rows) {
    embeddings_.Lookup(hypothesis.token, static_cast<int64_t>(hypothesis.path.size()) - 1, x);
    x += settings_.dim;
  }
}

void FloatDecoder::RunLayer(size_t index, std::span<const DecoderRow> rows, float* x,
                            LayerScratch& scratch, std::vector<int32_t>* peaks) const {
  const Layer& layer = layers_[index];
  const auto number = static_cast<int64_t>(index);
  const auto count = static_cast<int64_t>(rows.size());
  RunSublayer(settings_, layer.norm, x, count, scratch, [&](const float* in, float* out) {
    AttendToPath(layer, number, rows, in, scratch, out);
  });
  RunSublayer(settings_, layer.cross_norm, x, count, scratch, [&](const float* in, float* out) {
    AttendToSource(layer, number, rows, in, scratch, out, peaks);
  });
  layer.feed_forward.Run(settings_, x, count, scratch);
}

void FloatDecoder::Step(std::span<const DecoderRow> rows, LayerScratch& scratch,
                        float* logits) const {
  const int64_t dim = settings_.dim;
  const auto count = static_cast<int64_t>(rows.size());
  kernels::AlignedBuffer<float> x(static_cast<size_t>(count * dim));
  Embed(rows, x.data());
  for (size_t i = 0; i < layers_.size(); ++i) RunLayer(i, rows, x.data(), scratch, nullptr);
  for (const FloatNorm& norm : last_norm_) norm.Run(settings_, x.data(), count, x.data());
  output_.Multiply(x.data(), dim, count, scratch.narrow, logits);
}

std::vector<int32_t> FloatDecoder::Align(std::span<const int32_t> tokens,
                                         const SourceMemory& memory, LayerScratch& scratch) const {
  // All tokens are computed at once: each row's path goes through the slots of the tokens before
  // it, which a layer writes first.
  kernels::AlignedBuffer<float> slots(tokens.size() * static_cast<size_t>(slot_floats()));
  std::vector<float*> path;
  for (size_t i = 0; i < tokens.size(); ++i)
    path.push_back(slots.data() + static_cast<int64_t>(i) * slot_floats());
  std::vector<DecoderRow> rows;
  for (size_t i = 0; i < tokens.size(); ++i)
    rows.push_back({tokens[i], &memory, std::span(path).first(i + 1)});
  kernels::AlignedBuffer<float> x(tokens.size() * static_cast<size_t>(settings_.dim));
  Embed(rows, x.data());
  const size_t last = layers_.size() < 2 ? 0 : layers_.size() - 2;
  std::vector<int32_t> peaks;
  for (size_t i = 0; i <= last; ++i)
    RunLayer(i, rows, x.data(), scratch, i == last ? &peaks : nullptr);
  return peaks;
}

const float* FloatDecoder::Attend(int64_t index, std::span<const float* const> tokens,
                                  const float* query, LayerScratch& scratch, float* out) const {
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
  return attention.scores;
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
                                  LayerScratch& scratch, float* out,
                                  std::vector<int32_t>* peaks) const {
  const int64_t dim = settings_.dim;
  const auto count = static_cast<int64_t>(rows.size());
  float* queries = scratch.wide.Take(count * dim);
  layer.cross_query.Multiply(in, dim, count, scratch.narrow, queries);
  float* mixed = scratch.mixed.Take(count * dim);
  for (int64_t i = 0; i < count; ++i) {
    const SourceMemory& memory = *rows[static_cast<size_t>(i)].memory;
    const float* weights =
        Attend(index, memory.tokens(), queries + i * dim, scratch, mixed + i * dim);
    if (peaks != nullptr) peaks->push_back(PeakOf(weights, memory.tokens().size(), heads_));
  }
  layer.cross_output.Multiply(mixed, dim, count, scratch.narrow, out);
}

}  // namespace millrace::seq2seq
