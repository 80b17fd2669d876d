#include "models/kernels/channel_moments.h"

#include <algorithm>

#include "models/kernels/conv_kernels.h"

namespace millrace::kernels {

ChannelMoments::ChannelMoments(int64_t channels)
    : channels_(channels),
      center_(AlignedBuffer<float>::Zeros(static_cast<size_t>(channels))),
      sum_(static_cast<size_t>(channels)),
      square_(static_cast<size_t>(channels)) {}

void ChannelMoments::Begin(int64_t rows, const float* first_row) {
  rows_ = rows;
  std::copy_n(first_row, channels_, center_.data());
  const int64_t parts = (rows + kRowsOfSum - 1) / kRowsOfSum;
  const auto size = static_cast<size_t>(2 * parts * channels_);
  if (parts_.size() < size) parts_ = AlignedBuffer<float>(size);
}

void ChannelMoments::Add(int64_t begin, const float* rows, int64_t count) {
  for (int64_t row = 0; row < count; row += kRowsOfSum) {
    float* const sums = parts_.data() + (begin + row) / kRowsOfSum * 2 * channels_;
    GetConvKernels().moments(rows + row * channels_, std::min(kRowsOfSum, count - row), channels_,
                             center_.data(), sums, sums + channels_);
  }
}

void ChannelMoments::End() {
  std::fill(sum_.begin(), sum_.end(), 0.0);
  std::fill(square_.begin(), square_.end(), 0.0);
  for (int64_t row = 0; row < rows_; row += kRowsOfSum) {
    const float* const sums = parts_.data() + row / kRowsOfSum * 2 * channels_;
    const float* const squares = sums + channels_;
    for (size_t c = 0; c < sum_.size(); ++c) {
      sum_[c] += static_cast<double>(sums[c]);
      square_[c] += static_cast<double>(squares[c]);
    }
  }
}

double ChannelMoments::Mean(int64_t channel) const {
  return static_cast<double>(center_.data()[channel]) +
         sum_[static_cast<size_t>(channel)] / static_cast<double>(rows_);
}

double ChannelMoments::Variance(int64_t channel) const {
  const double off = sum_[static_cast<size_t>(channel)] / static_cast<double>(rows_);
  return std::max(square_[static_cast<size_t>(channel)] / static_cast<double>(rows_) - off * off,
                  0.0);
}

}  // namespace millrace::kernels
