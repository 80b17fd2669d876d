#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <utility>

namespace millrace::speech {

// A tensor as a file has it: float32, or codes of 8 bits, which take a quarter of the memory and
// are decoded for each use. Immutable, so thread-safe.
class StoredTensor {
 public:
  StoredTensor() = default;
  StoredTensor(at::Tensor floats)  // NOLINT(google-explicit-constructor)
      : stored_(std::move(floats)) {}
  // codes: uint8. scales: float32, and zero_points: uint8, of one value each or of one for each row
  // of the first dimension. All are on the CPU. A value is (code - zero point) * scale.
  StoredTensor(at::Tensor codes, at::Tensor scales, at::Tensor zero_points)
      : stored_(std::move(codes)),
        scales_(std::move(scales)),
        zero_points_(std::move(zero_points)) {}

  bool defined() const { return stored_.defined(); }
  bool coded() const { return scales_.defined(); }
  int64_t dim() const { return stored_.dim(); }
  int64_t size(int64_t dimension) const { return stored_.size(dimension); }
  // Returns the values, which are those of this tensor or decoded.
  at::Tensor Floats() const;
  // Returns a tensor in memory of its own.
  StoredTensor Copy() const;

 private:
  at::Tensor stored_;
  at::Tensor scales_;  // undefined: stored_ is float32
  at::Tensor zero_points_;
};

}  // namespace millrace::speech
