#pragma once

#include <cstdint>
#include <vector>

#include "models/bergamot/bergamot_weights.h"
#include "models/kernels/aligned_buffer.h"
#include "models/kernels/integer_kernels.h"

namespace millrace::bergamot {

// Weights in the order in which the kernels read them. Several matrices with the same inputs can
// lie side by side; they are then multiplied at once. Immutable, so thread-safe.
class PackedMatrix {
 public:
  PackedMatrix() = default;
  explicit PackedMatrix(const std::vector<const LinearWeights*>& parts);

  int64_t outputs() const { return outputs_; }
  kernels::PackedView view() const;

 private:
  void Append(const LinearWeights& part, int64_t first_column);

  int64_t inputs_ = 0;
  int64_t outputs_ = 0;
  kernels::AlignedBuffer<int8_t> values_;
  kernels::AlignedBuffer<int32_t> corrections_;
  kernels::AlignedBuffer<float> scales_;
  kernels::AlignedBuffer<float> bias_;
};

// Returns 128 times the sum of the values, by which unsigned activations exceed the product (see
// the kernels).
int32_t Correction(const int8_t* values, int64_t count);

}  // namespace millrace::bergamot
