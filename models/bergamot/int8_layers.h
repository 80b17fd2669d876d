#pragma once

#include <cstddef>
#include <cstdint>

#include "models/bergamot/bergamot_weights.h"
#include "models/bergamot/packed_matrix.h"
#include "models/bergamot/positions.h"
#include "models/kernels/aligned_buffer.h"
#include "models/kernels/integer_kernels.h"

namespace millrace::bergamot {

// A buffer for quantised activations: up to `rows` rows of up to `inputs` inputs.
class QuantisedRows {
 public:
  QuantisedRows(int64_t rows, int64_t inputs)
      : values_(static_cast<size_t>(2 * rows * inputs)), scales_(static_cast<size_t>(rows)) {}

  kernels::Activations view(int64_t inputs) { return {values_.data(), scales_.data(), inputs}; }

 private:
  kernels::AlignedBuffer<uint8_t> values_;
  kernels::AlignedBuffer<float> scales_;
};

// Scratch memory of one call, for up to `rows` rows of dim values.
struct LayerBuffers {
  // Rows that go through a feed-forward block together, so that their hidden values stay in the L2
  // cache.
  static constexpr int64_t kHiddenRows = 48;

  LayerBuffers(int64_t rows, int64_t dim, int64_t hidden_units, int64_t wide_columns);

  QuantisedRows quantised;               // [rows][dim]
  kernels::AlignedBuffer<float> wide;    // [rows][wide_columns]
  kernels::AlignedBuffer<float> mixed;   // [rows][dim]
  kernels::AlignedBuffer<float> hidden;  // [kHiddenRows][hidden_units]
  QuantisedRows quantised_hidden;
};

// Turns tokens of either side into vectors: embedding times sqrt(dim), plus the position encoding.
// A view of weights that must outlive it; thread-safe.
class Embeddings {
 public:
  explicit Embeddings(const BergamotWeights& weights);

  // Write the vector of the token. A negative token has a zero embedding, as before the first
  // token.
  void LookupSource(int32_t token, int64_t position, float* x) const;
  void LookupTarget(int32_t token, int64_t position, float* x) const;

 private:
  void Lookup(const Int8Matrix& matrix, int32_t token, int64_t position, float* x) const;

  const Int8Matrix source_;
  const Int8Matrix target_;
  const PositionTable positions_;
};

// Computes x = norm(x + contract(relu(expand(x)))). Immutable, so thread-safe.
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

// Computes out = x * matrix + bias.
void Multiply(const kernels::IntegerKernels& kernels, const PackedMatrix& matrix, const float* x,
              int64_t rows, QuantisedRows& quantised, float* out);
// Computes x = norm(x + y).
void AddNorm(const kernels::IntegerKernels& kernels, const NormWeights& norm, const float* y,
             int64_t rows, float* x);

}  // namespace millrace::bergamot
