#pragma once

#include <cstdint>
#include <vector>

#include "models/kernels/float_kernels.h"
#include "models/kernels/packed_linear.h"
#include "models/kernels/scratch.h"
#include "models/seq2seq/seq2seq_config.h"
#include "models/seq2seq/seq2seq_weights.h"

namespace millrace::seq2seq {

// Settings of all layers, which must outlive the layers.
struct LayerSettings {
  LayerSettings(const Seq2SeqConfig& config, const kernels::LinearKernels& linear)
      : linear(linear),
        kernels(linear.floats),
        dim(config.dim),
        norm_first(config.norm_first),
        activation(config.activation),
        epsilon(config.norm_epsilon) {}

  const kernels::LinearKernels linear;
  const kernels::FloatKernels& kernels;
  const int64_t dim;
  const bool norm_first;
  const Activation activation;
  const float epsilon;
};

struct LayerScratch {
  kernels::Scratch normed;
  kernels::Scratch wide;    // queries, keys and values, or hidden units
  kernels::Scratch mixed;   // the result of attention
  kernels::Scratch result;  // the result of a sublayer, before it is added
  kernels::Scratch scores;
  kernels::Scratch narrow;  // the input of a linear layer, in its precision
};

// Layers are immutable, so thread-safe.
class FloatNorm {
 public:
  explicit FloatNorm(const FloatNormWeights& weights)
      : scale_(weights.scale.begin(), weights.scale.end()),
        bias_(weights.bias.begin(), weights.bias.end()) {}

  void Run(const LayerSettings& settings, const float* x, int64_t rows, float* out) const {
    settings.kernels.norm(x, rows, settings.dim, scale_.data(), bias_.data(), settings.epsilon,
                          out);
  }

 private:
  std::vector<float> scale_;
  std::vector<float> bias_;
};

// Computes x = x + f(x), with the norm before f or after the sum. f(in, out) reads and writes rows
// of dim values.
template <typename F>
void RunSublayer(const LayerSettings& settings, const FloatNorm& norm, float* x, int64_t rows,
                 LayerScratch& scratch, const F& f) {
  const int64_t floats = rows * settings.dim;
  const float* in = x;
  if (settings.norm_first) {
    float* normed = scratch.normed.Take(floats);
    norm.Run(settings, x, rows, normed);
    in = normed;
  }
  float* out = scratch.result.Take(floats);
  f(in, out);
  settings.kernels.add(out, floats, x);
  if (!settings.norm_first) norm.Run(settings, x, rows, x);
}

class FloatFeedForward {
 public:
  FloatFeedForward(const FloatFeedForwardWeights& weights, const kernels::LinearKernels& kernels);

  void Run(const LayerSettings& settings, float* x, int64_t rows, LayerScratch& scratch) const;

 private:
  kernels::PackedLinear expand_;
  kernels::PackedLinear contract_;
  FloatNorm norm_;
};

// Turns tokens into vectors: their scaled embeddings plus the encodings of their positions. The
// matrix must outlive it.
class FloatEmbeddings {
 public:
  FloatEmbeddings(const kernels::PackedLinear& tokens, const kernels::FloatMatrix& positions,
                  float scale);

  // The token must be in the vocabulary, and the position below `longest`.
  void Lookup(int32_t token, int64_t position, float* out) const;

 private:
  const kernels::PackedLinear& tokens_;
  const std::vector<float> positions_;
  const float scale_;
};

}  // namespace millrace::seq2seq
