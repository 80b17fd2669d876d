#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/kernels/aligned_buffer.h"

namespace millrace::kernels {

// The mean and variance of each channel over rows of channels, which are added in chunks. Not
// thread-safe.
class ChannelMoments {
 public:
  explicit ChannelMoments(int64_t channels);

  // Removes all rows.
  void Clear();
  // Results do not depend on the cuts, bit for bit, if each chunk but the last has a multiple of 64
  // rows.
  void Add(const float* rows, int64_t count);

  // At least one row must have been added.
  double Mean(int64_t channel) const;
  double Variance(int64_t channel) const;

 private:
  const int64_t channels_;
  int64_t rows_ = 0;
  // Moments are taken about the first row, so that a large mean does not drown the deviations.
  AlignedBuffer<float> center_, sums_, squares_;
  std::vector<double> sum_, square_;
};

}  // namespace millrace::kernels
