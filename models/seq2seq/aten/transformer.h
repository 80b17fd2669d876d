#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace millrace::seq2seq {

// Layers of a transformer on a device. Layers that read the same input are one matrix. Matrices are
// [outputs, inputs].
struct AtenLinear {
  at::Tensor weight;
  at::Tensor bias;
};

struct AtenNorm {
  at::Tensor scale;
  at::Tensor bias;
};

struct AtenFeedForward {
  AtenLinear expand, contract;
  AtenNorm norm;
};

struct AtenEncoderLayer {
  AtenLinear inputs;  // query, key and value
  AtenLinear output;
  AtenNorm norm;
  AtenFeedForward feed_forward;
};

struct AtenDecoderLayer {
  AtenLinear inputs;  // query, key and value
  AtenLinear output;
  AtenNorm norm;
  AtenLinear cross_query, cross_output;
  AtenNorm cross_norm;
  AtenFeedForward feed_forward;
};

// The weights of an encoder-decoder transformer, all on one device and of one type.
struct TransformerWeights {
  int64_t encoder_heads = 0;
  int64_t decoder_heads = 0;
  bool norm_first = false;
  bool swish = false;  // else ReLU
  double embedding_scale = 1;
  double norm_epsilon = 1e-5;

  at::Tensor source_embeddings;  // [tokens, dim]
  at::Tensor target_embeddings;
  at::Tensor positions;  // [places, dim]
  std::vector<AtenEncoderLayer> encoder;
  std::vector<AtenDecoderLayer> decoder;
  AtenNorm encoder_norm, decoder_norm;  // with norm_first
  AtenLinear memory;                    // keys and values of all decoder layers, from the source
  // [padded vocabulary, dim] and float32 [padded vocabulary]: the bias of the padding is minus
  // infinity.
  AtenLinear output;
  at::Tensor suppressed;  // int64, tokens that are never chosen

  int64_t dim() const { return positions.size(1); }
};

// The KV cache of all sentences on a device, a tensor for each decoder layer: [slots, 2 * dim], the
// key and the value of one token of a source or of a translation in each slot.
using DeviceKvCache = std::vector<at::Tensor>;

// The input of a decoder step: one token of each row. All tensors are int64 on the device.
struct DecoderStepInput {
  at::Tensor tokens;          // [rows], the last of each hypothesis
  at::Tensor positions;       // [rows], the position of that token
  at::Tensor slots;           // [rows], where its key and value are written
  at::Tensor path;            // [rows * width], slots of the tokens up to it, then any
  at::Tensor sources;         // [rows * source width], slots of the source's tokens, then any
  at::Tensor source_lengths;  // [rows]
};

// The forward of the network in ATen operators that a CUDA graph can capture: equal shapes submit
// equal work. Softmax, norms and logits are float32 whatever the weights. Immutable, so
// thread-safe.
class Transformer {
 public:
  explicit Transformer(TransformerWeights weights);

  const TransformerWeights& weights() const { return weights_; }

  // Takes tokens [rows * width] and lengths [rows], each at least 1. Returns the keys and values of
  // each token for each decoder layer, [layers, rows * width, 2 * dim].
  at::Tensor Encode(const at::Tensor& tokens, const at::Tensor& lengths) const;
  // Returns the scores of the next tokens, float32 [rows, padded vocabulary]. Writes the slots of
  // the tokens.
  at::Tensor Step(const DecoderStepInput& input, const DeviceKvCache& cache) const;
  // Returns the source position that each row's next token comes from, int64 [rows]: the one that
  // the second-to-last layer, whose attention is closest to an alignment, attends to most. Writes
  // the tokens' slots for the layers up to that one.
  at::Tensor Align(const DecoderStepInput& input, const DeviceKvCache& cache) const;

 private:
  // Masks of a step: 0 for positions that its tokens may attend to, minus infinity for others.
  struct StepMasks {
    at::Tensor path, source;  // [rows, 1, 1, width]
  };

  StepMasks MasksOf(const DecoderStepInput& input) const;
  // peaks: null, or receives the source position that each row attends to most.
  at::Tensor RunDecoderLayer(size_t index, const DecoderStepInput& input, const StepMasks& masks,
                             const DeviceKvCache& cache, at::Tensor x, at::Tensor* peaks) const;
  at::Tensor Embed(const at::Tensor& embeddings, const at::Tensor& tokens,
                   const at::Tensor& places) const;
  at::Tensor Norm(const AtenNorm& norm, const at::Tensor& x) const;
  template <typename F>
  at::Tensor Sublayer(const AtenNorm& norm, const at::Tensor& x, const F& f) const;
  at::Tensor FeedForward(const AtenFeedForward& layer, const at::Tensor& x) const;
  // Returns 0 for positions below the lengths [rows], and minus infinity for others: [rows, 1, 1,
  // width].
  at::Tensor MaskBeyond(const at::Tensor& lengths, int64_t width) const;
  at::Tensor Logits(const at::Tensor& x) const;

  const TransformerWeights weights_;
  at::Tensor counting_;  // 0, 1, 2 ...
};

}  // namespace millrace::seq2seq
