#pragma once

#include <cstdint>
#include <vector>

#include "models/kernels/aligned_buffer.h"

namespace millrace::kernels {

// The mean and variance of each channel over rows of channels, which are added in any order. Not
// thread-safe, but for Add.
class ChannelMoments {
 public:
  // Rows are added in multiples of this number. Few enough to be summed as floats, and to stay in
  // the L1 cache.
  static constexpr int64_t kRowsOfSum = 64;

  explicit ChannelMoments(int64_t channels);

  // Removes all rows. Afterwards `rows` >= 1 rows are to be added. The first of them is read here.
  void Begin(int64_t rows, const float* first_row);
  // Adds `count` rows from the row `begin` on, which `rows` points to. Both are multiples of
  // kRowsOfSum, except for the last count. Each row is added once. Several threads may add rows at
  // the same time. Results are the same bits for all cuts and orders.
  void Add(int64_t begin, const float* rows, int64_t count);
  // Ends the adding, after all rows.
  void End();

  // These need End.
  double Mean(int64_t channel) const;
  double Variance(int64_t channel) const;

 private:
  const int64_t channels_;
  int64_t rows_ = 0;
  // Moments are taken about the first row, so that a large mean does not drown the deviations.
  AlignedBuffer<float> center_;
  // The sums of each kRowsOfSum rows, then the sums of their squares.
  AlignedBuffer<float> parts_;
  std::vector<double> sum_, square_;
};

}  // namespace millrace::kernels
