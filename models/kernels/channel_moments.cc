#include "models/kernels/channel_moments.h"

#include <algorithm>

#include "models/kernels/conv_kernels.h"

namespace millrace::kernels {
namespace {

// Few enough to be summed as floats, and to stay in the L1 cache.
constexpr int64_t kRowsOfSum = 64;

}  // namespace

ChannelMoments::ChannelMoments(int64_t channels)
    : channels_(channels),
      center_(AlignedBuffer<float>::Zeros(static_cast<size_t>(channels))),
      sums_(AlignedBuffer<float>::Zeros(static_cast<size_t>(channels))),
      squares_(AlignedBuffer<float>::Zeros(static_cast<size_t>(channels))),
      sum_(static_cast<size_t>(channels)),
      square_(static_cast<size_t>(channels)) {}

void ChannelMoments::Clear() {
  rows_ = 0;
  std::fill(sum_.begin(), sum_.end(), 0.0);
  std::fill(square_.begin(), square_.end(), 0.0);
}

void ChannelMoments::Add(const float* rows, int64_t count) {
  if (rows_ == 0) std::copy_n(rows, channels_, center_.data());
  rows_ += count;
  for (int64_t begin = 0; begin < count; begin += kRowsOfSum) {
    GetConvKernels().moments(rows + begin * channels_, std::min(kRowsOfSum, count - begin),
                             channels_, center_.data(), sums_.data(), squares_.data());
    for (size_t c = 0; c < sum_.size(); ++c) {
      sum_[c] += static_cast<double>(sums_.data()[c]);
      square_[c] += static_cast<double>(squares_.data()[c]);
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
