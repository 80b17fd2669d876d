#include "models/vits/frame_scaling.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace millrace::vits {
namespace {

int64_t Sum(const std::vector<int64_t>& frames) {
  return std::accumulate(frames.begin(), frames.end(), int64_t{0});
}

constexpr int64_t kPad = 0;

TEST(FrameScalingTest, TheSumIsTrueToTheSpeed) {
  // As a Piper voice has them: every second id is a pad.
  std::vector<int64_t> frames;
  std::vector<int64_t> ids;
  for (int64_t i = 0; i < 60; ++i) {
    frames.insert(frames.end(), {2 + i * 7 % 9, 1 + i % 3});
    ids.insert(ids.end(), {5 + i, kPad});
  }
  for (const double speed : {0.25, 0.5, 0.9, 1.3, 1.58, 2.0, 3.0, 4.0}) {
    const double wanted = static_cast<double>(Sum(frames)) / speed;
    EXPECT_NEAR(static_cast<double>(Sum(ScaleFrames(frames, ids, kPad, speed))), wanted,
                0.01 * wanted + 1)
        << speed;
  }
  EXPECT_EQ(ScaleFrames(frames, ids, kPad, 1.0), frames);
}

TEST(FrameScalingTest, OnlyPadsMayVanish) {
  const std::vector<int64_t> ids = {5, kPad, 6, kPad, 7};
  EXPECT_EQ(ScaleFrames(std::vector<int64_t>{2, 3, 2, 1, 8}, ids, kPad, 4.0),
            (std::vector<int64_t>{1, 0, 1, 0, 2}));
  EXPECT_EQ(ScaleFrames(std::vector<int64_t>{1, 0}, std::vector<int64_t>{5, kPad}, kPad, 4.0),
            (std::vector<int64_t>{0, 1}));
  EXPECT_TRUE(ScaleFrames({}, {}, kPad, 2.0).empty());
}

}  // namespace
}  // namespace millrace::vits
