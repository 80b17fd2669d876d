#pragma once

#include <cstddef>
#include <cstdint>

#include "models/bergamot/bergamot_weights.h"
#include "models/bergamot/packed_matrix.h"
#include "models/bergamot/positions.h"
#include "models/kernels/aligned_buffer.h"
#include "models/kernels/integer_kernels.h"

namespace millrace::bergamot {

// Room for quantised activations: up to `rows` rows of up to `inputs` inputs.
class QuantisedRows {
 public:
  QuantisedRows(int64_t rows, int64_t inputs)
      : values_(static_cast<size_t>(2 * rows * inputs)), scales_(static_cast<size_t>(rows)) {}

  kernels::Activations view(int64_t inputs) { return {values_.data(), scales_.data(), inputs}; }

 private:
  kernels::AlignedBuffer<uint8_t> values_;
  kernels::AlignedBuffer<float> scales_;
};

// Scratch of one call for the layers, for up to `rows` rows of dim values.
struct LayerBuffers {
  // Rows that pass a feed-forward block together: their hidden values should stay in the L2 cache.
  static constexpr int64_t kHiddenRows = 48;

  LayerBuffers(int64_t rows, int64_t dim, int64_t hidden_units, int64_t wide_columns);

  QuantisedRows quantised;               // [rows][dim]
  kernels::AlignedBuffer<float> wide;    // [rows][wide_columns]
  kernels::AlignedBuffer<float> mixed;   // [rows][dim]
  kernels::AlignedBuffer<float> hidden;  // [kHiddenRows][hidden_units]
  QuantisedRows quantised_hidden;
};

// Tokens to vectors: embedding times sqrt(dim), plus the position. A view of weights that must
// outlive it; thread-safe.
class Embeddings {
 public:
  explicit Embeddings(const BergamotWeights& weights);

  // The vector of a token; of a zero vector for `token` < 0, as before the first token.
  void Lookup(int32_t token, int64_t position, float* x) const;

 private:
  const Int8Matrix matrix_;
  const float scale_;
  const PositionTable positions_;
};

// x = norm(x + contract(relu(expand(x)))). Immutable, so thread-safe.
class FeedForward {
 public:
  explicit FeedForward(const FeedForwardWeights& weights);

  int64_t hidden_units() const { return expand_.outputs(); }
  void Run(const kernels::IntegerKernels& kernels, float* x, int64_t rows,
           LayerBuffers& buffers) const;

 private:
  PackedMatrix expand_;
  PackedMatrix contract_;
  NormWeights norm_;
};

// out = x * matrix + bias.
void Multiply(const kernels::IntegerKernels& kernels, const PackedMatrix& matrix, const float* x,
              int64_t rows, QuantisedRows& quantised, float* out);
// x = norm(x + y)
void AddNorm(const kernels::IntegerKernels& kernels, const NormWeights& norm, const float* y,
             int64_t rows, float* x);

}  // namespace millrace::bergamot
