#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "models/kernels/aligned_buffer.h"
#include "models/weights/safetensors.h"

namespace millrace::bergamot {

// weight = value / multiplier. Rows lie one after another, one for each output (in embeddings: for
// each token).
struct Int8Matrix {
  const int8_t* values = nullptr;
  int64_t outputs = 0;
  int64_t inputs = 0;
  float multiplier = 1.0F;
};

struct LinearWeights {
  Int8Matrix matrix;
  std::span<const float> bias;  // empty: none
};

struct NormWeights {
  std::span<const float> scale;
  std::span<const float> bias;
};

struct AttentionWeights {
  LinearWeights query, key, value, output;
  NormWeights norm;  // after the residual sum, as all norms of the model
};

struct FeedForwardWeights {
  LinearWeights expand, contract;
  NormWeights norm;
};

struct EncoderLayerWeights {
  AttentionWeights attention;
  FeedForwardWeights feed_forward;
};

// The decoder's self-attention is an SSRU cell: cell = forget * cell + (1 - forget) * candidate.
struct DecoderLayerWeights {
  LinearWeights forget;
  LinearWeights candidate;  // without bias
  NormWeights norm;
  AttentionWeights cross;
  FeedForwardWeights feed_forward;
};

// The target tokens that a source token may become; see Shortlist.
struct ShortlistWeights {
  int32_t first = 0;
  std::span<const int32_t> offsets;  // one more than there are source tokens; ascending
  std::span<const int32_t> ids;      // target tokens
};

// The weights of a Bergamot model; all shapes are checked against each other. Vectors and
// embeddings are copies, because engines read them as long as they live; the matrices of the
// layers, which engines repack, are views into the mapped file. Immutable but for DropLayers, so
// thread-safe.
class BergamotWeights {
 public:
  static constexpr int32_t kEndOfSentence = 0;
  static constexpr int32_t kUnknown = 1;
  static constexpr float kNormEpsilon = 1e-9F;

  // Returns DataLoss that names the tensor when one is missing, has another shape or holds values
  // out of range.
  static absl::StatusOr<std::unique_ptr<BergamotWeights>> Load(const std::filesystem::path& path);

  // Drops the layers and closes the file; existing engines are not affected. While the file is
  // mapped, overwriting or truncating it would change translations or kill the process.
  void DropLayers();

  int64_t dim() const { return target_embeddings.inputs; }
  int64_t source_tokens() const { return source_embeddings.outputs; }
  int64_t target_tokens() const { return target_embeddings.outputs; }

  Int8Matrix source_embeddings;  // the same values as the target's where the file has one matrix
  Int8Matrix target_embeddings;  // the output layer has them too
  std::span<const float> output_bias;
  int32_t heads = 8;
  std::vector<EncoderLayerWeights> encoder;
  std::vector<DecoderLayerWeights> decoder;
  ShortlistWeights shortlist;

 private:
  explicit BergamotWeights(models::SafetensorsFile file) : file_(std::move(file)) {}

  std::optional<models::SafetensorsFile> file_;
  std::vector<kernels::AlignedBuffer<std::byte>> copies_;
};

}  // namespace millrace::bergamot
