#include "models/kernels/channel_rows.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace millrace::kernels {
namespace {

constexpr float kUntouched = -1.0F;

// The same signal as [channels][time] and as rows that are wider than the channels.
struct Signal {
  Signal(int64_t channels, int64_t time)
      : shape{channels, time},
        width(channels + 3),
        by_channel(static_cast<size_t>(channels * time)),
        rows(static_cast<size_t>(time * width), kUntouched) {
    std::iota(by_channel.begin(), by_channel.end(), 1.0F);
    for (int64_t c = 0; c < channels; ++c) {
      for (int64_t t = 0; t < time; ++t)
        rows[static_cast<size_t>(t * width + c)] = by_channel[static_cast<size_t>(c * time + t)];
    }
  }

  ChannelShape shape;
  int64_t width;
  std::vector<float> by_channel;
  std::vector<float> rows;
};

// Signals that squares of four channels and four times fill, and that leave some of either over.
class ChannelRowsTest : public ::testing::TestWithParam<std::pair<int64_t, int64_t>> {
 protected:
  const Signal signal_{GetParam().first, GetParam().second};
};

TEST_P(ChannelRowsTest, WritesTheChannelsOfRowsAndNothingBeyond) {
  std::vector<float> rows(signal_.rows.size(), kUntouched);
  ToRows(signal_.by_channel.data(), signal_.shape, signal_.width, rows.data());
  EXPECT_EQ(rows, signal_.rows);
}

TEST_P(ChannelRowsTest, ReadsTheChannelsOfRows) {
  std::vector<float> by_channel(signal_.by_channel.size(), kUntouched);
  FromRows(signal_.rows.data(), signal_.shape, signal_.width, by_channel.data());
  EXPECT_EQ(by_channel, signal_.by_channel);
}

INSTANTIATE_TEST_SUITE_P(Shapes, ChannelRowsTest,
                         ::testing::Values(std::pair{1, 1}, std::pair{3, 19}, std::pair{4, 16},
                                           std::pair{6, 61}, std::pair{32, 7},
                                           std::pair{35, 2500}));

}  // namespace
}  // namespace millrace::kernels
