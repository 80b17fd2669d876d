#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/kernels/aligned_buffer.h"

namespace millrace::kernels {

// Mean and variance of each channel over rows of channels that come piece by piece. Not
// thread-safe.
class ChannelMoments {
 public:
  explicit ChannelMoments(int64_t channels);

  // Forgets what was added.
  void Clear();
  // Pieces of a multiple of 64 rows give the same bits wherever they are cut.
  void Add(const float* rows, int64_t count);

  // Of at least one row.
  double Mean(int64_t channel) const;
  double Variance(int64_t channel) const;

 private:
  const int64_t channels_;
  int64_t rows_ = 0;
  // Moments are about the first row, so that a large mean does not drown the deviations.
  AlignedBuffer<float> center_, sums_, squares_;
  std::vector<double> sum_, square_;
};

}  // namespace millrace::kernels
