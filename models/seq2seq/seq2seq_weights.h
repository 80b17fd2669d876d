#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "models/kernels/packed_floats.h"
#include "models/seq2seq/seq2seq_config.h"
#include "models/weights/safetensors.h"

namespace millrace::seq2seq {

struct FloatNormWeights {
  std::span<const float> scale;
  std::span<const float> bias;
};

struct FloatAttentionWeights {
  kernels::FloatLinear query, key, value, output;
  FloatNormWeights norm;
};

struct FloatFeedForwardWeights {
  kernels::FloatLinear expand, contract;
  FloatNormWeights norm;
};

struct FloatEncoderLayerWeights {
  FloatAttentionWeights self;
  FloatFeedForwardWeights feed_forward;
};

struct FloatDecoderLayerWeights {
  FloatAttentionWeights self, cross;
  FloatFeedForwardWeights feed_forward;
};

// The weights of an encoder-decoder transformer; all shapes are checked against the config and each
// other. They are views, for example into a mapped file, which engines repack.
class Seq2SeqWeights {
 public:
  // Returns DataLoss that names the tensor when one is missing or has another shape.
  static absl::StatusOr<Seq2SeqWeights> Load(const std::filesystem::path& path,
                                             const Seq2SeqConfig& config);

  int64_t tokens() const { return output.matrix.outputs; }  // the vocabulary of translations
  int64_t source_tokens() const { return source_embeddings.outputs; }
  // Returns the number of positions: the longest source and translation, the start token included.
  int64_t longest() const { return positions.outputs; }

  kernels::FloatMatrix source_embeddings;
  kernels::FloatMatrix target_embeddings;  // the same pointer where a model shares them
  kernels::FloatLinear output;             // same as target_embeddings where a model shares them
  kernels::FloatMatrix positions;          // a row for each position
  std::vector<FloatEncoderLayerWeights> encoder;
  std::vector<FloatDecoderLayerWeights> decoder;
  FloatNormWeights encoder_norm;  // after the last layer; empty unless norm_first
  FloatNormWeights decoder_norm;

 private:
  std::optional<models::SafetensorsFile> file_;
};

}  // namespace millrace::seq2seq
