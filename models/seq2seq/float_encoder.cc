#include "models/seq2seq/float_encoder.h"

#include <algorithm>

namespace millrace::seq2seq {
namespace {

kernels::PackedLinear PackMemory(const Seq2SeqWeights& weights,
                                 const kernels::LinearKernels& kernels) {
  std::vector<kernels::FloatLinear> layers;
  for (const FloatDecoderLayerWeights& layer : weights.decoder) {
    layers.push_back(layer.cross.key);
    layers.push_back(layer.cross.value);
  }
  return kernels::PackedLinear(layers, kernels);
}

}  // namespace

SourceMemory::SourceMemory(const float* rows, int64_t tokens, int64_t stride)
    : values_(static_cast<size_t>(tokens * stride)) {
  std::copy_n(rows, tokens * stride, values_.data());
  for (int64_t i = 0; i < tokens; ++i) tokens_.push_back(values_.data() + i * stride);
}

FloatEncoder::FloatEncoder(const Seq2SeqWeights& weights, const Seq2SeqConfig& config,
                           const LayerSettings& settings, const FloatEmbeddings& embeddings)
    : settings_(settings),
      embeddings_(embeddings),
      heads_(config.encoder_heads),
      memory_(PackMemory(weights, settings.linear)) {
  for (const FloatEncoderLayerWeights& layer : weights.encoder) {
    layers_.push_back({kernels::PackedLinear({layer.self.query, layer.self.key, layer.self.value},
                                             settings.linear),
                       kernels::PackedLinear({layer.self.output}, settings.linear),
                       FloatNorm(layer.self.norm),
                       FloatFeedForward(layer.feed_forward, settings.linear)});
  }
  if (config.norm_first) last_norm_.emplace_back(weights.encoder_norm);
}

std::vector<SourceMemory> FloatEncoder::Encode(std::span<const std::span<const int32_t>> sources,
                                               LayerScratch& scratch) const {
  const int64_t dim = settings_.dim;
  int64_t rows = 0;
  for (const auto& source : sources) rows += static_cast<int64_t>(source.size());
  kernels::AlignedBuffer<float> x(static_cast<size_t>(rows * dim));
  float* row = x.data();
  for (const auto& source : sources) {
    for (size_t i = 0; i < source.size(); ++i, row += dim) {
      embeddings_.Lookup(source[i], static_cast<int64_t>(i), row);
    }
  }
  for (const Layer& layer : layers_) {
    RunSublayer(settings_, layer.norm, x.data(), rows, scratch, [&](const float* in, float* out) {
      Attend(layer, sources, in, rows, scratch, out);
    });
    layer.feed_forward.Run(settings_, x.data(), rows, scratch);
  }
  for (const FloatNorm& norm : last_norm_) norm.Run(settings_, x.data(), rows, x.data());
  const int64_t stride = memory_.width();
  float* memory = scratch.wide.Take(rows * stride);
  memory_.Multiply(x.data(), dim, rows, scratch.narrow, memory);
  std::vector<SourceMemory> memories;
  memories.reserve(sources.size());
  for (const auto& source : sources) {
    const auto tokens = static_cast<int64_t>(source.size());
    memories.emplace_back(memory, tokens, stride);
    memory += tokens * stride;
  }
  return memories;
}

void FloatEncoder::Attend(const Layer& layer, std::span<const std::span<const int32_t>> sources,
                          const float* in, int64_t rows, LayerScratch& scratch, float* out) const {
  const int64_t dim = settings_.dim;
  const int64_t stride = layer.inputs.width();
  float* wide = scratch.wide.Take(rows * stride);
  layer.inputs.Multiply(in, dim, rows, scratch.narrow, wide);
  float* mixed = scratch.mixed.Take(rows * dim);
  std::vector<const float*> tokens;
  const float* query = wide;
  float* result = mixed;
  for (const auto& source : sources) {
    tokens.clear();
    for (size_t i = 0; i < source.size(); ++i)
      tokens.push_back(query + static_cast<int64_t>(i) * stride);
    kernels::FloatAttention attention;
    attention.tokens = tokens.data();
    attention.key = dim;
    attention.value = 2 * dim;
    attention.count = static_cast<int64_t>(tokens.size());
    attention.heads = heads_;
    attention.size = dim / heads_;
    attention.scores = scratch.scores.Take(heads_ * kernels::PadScores(attention.count));
    for (size_t i = 0; i < source.size(); ++i, query += stride, result += dim) {
      attention.query = query;
      attention.out = result;
      settings_.kernels.attend(attention);
    }
  }
  layer.output.Multiply(mixed, dim, rows, scratch.narrow, out);
}

}  // namespace millrace::seq2seq
