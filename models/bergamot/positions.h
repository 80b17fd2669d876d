#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace millrace::bergamot {

// Fills the table with sinusoidal position encodings for positions begin, begin + 1, ...: rows of
// dim values, sines first, as many as fit. Thread-safe.
void FillPositions(int64_t begin, int64_t dim, std::span<float> table);

// The encodings of the first positions, kept, and shared by all tables of one width; others are
// computed when asked for. Immutable, so thread-safe.
class PositionTable {
 public:
  explicit PositionTable(int64_t dim);

  // x += the encoding of the position; x holds dim values.
  void Add(int64_t position, float* x) const;

 private:
  static constexpr int64_t kKept = 512;

  const int64_t dim_;
  const std::shared_ptr<const std::vector<float>> table_;
};

}  // namespace millrace::bergamot
