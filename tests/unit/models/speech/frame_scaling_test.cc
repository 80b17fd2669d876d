#include "models/speech/frame_scaling.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace millrace::speech {
namespace {

int64_t Sum(const std::vector<int64_t>& frames) {
  return std::accumulate(frames.begin(), frames.end(), int64_t{0});
}

TEST(FrameScalingTest, TheSumIsTrueToTheSpeed) {
  // As a Piper voice has them: every second id is a pad.
  std::vector<int64_t> frames;
  std::vector<bool> sounds;
  for (int64_t i = 0; i < 60; ++i) {
    frames.insert(frames.end(), {2 + i * 7 % 9, 1 + i % 3});
    sounds.insert(sounds.end(), {true, false});
  }
  for (const double speed : {0.25, 0.5, 0.9, 1.3, 1.58, 2.0, 3.0, 4.0}) {
    const double wanted = static_cast<double>(Sum(frames)) / speed;
    EXPECT_NEAR(static_cast<double>(Sum(ScaleFrames(frames, sounds, speed))), wanted, 0.5) << speed;
  }
  EXPECT_EQ(ScaleFrames(frames, sounds, 1.0), frames);
}

TEST(FrameScalingTest, ShortUnitsAreTrueToTheSpeedToo) {
  // As Kokoro has them for "Hello.": a long mark at each end, stress and stop of a frame or more.
  const std::vector<int64_t> frames = {14, 2, 3, 3, 1, 6, 9, 1};
  const std::vector<bool> sounds = {false, true, true, true, false, true, false, false};
  for (const double speed : {0.5, 0.75, 1.25, 1.5, 1.75, 2.0}) {
    const std::vector<int64_t> scaled = ScaleFrames(frames, sounds, speed);
    EXPECT_NEAR(static_cast<double>(Sum(scaled)), static_cast<double>(Sum(frames)) / speed, 0.5)
        << speed;
    for (size_t i = 0; i < frames.size(); ++i) {
      EXPECT_NEAR(static_cast<double>(scaled[i]), static_cast<double>(frames[i]) / speed, 1.0)
          << speed << ", id " << i;
    }
  }
}

TEST(FrameScalingTest, SoundsKeepAFrameThatOthersYield) {
  EXPECT_EQ(ScaleFrames(std::vector<int64_t>{1, 1, 1, 1, 4}, {true, true, true, false, true}, 2.0),
            (std::vector<int64_t>{1, 1, 1, 0, 1}));
  // The last sound takes its frame from the longest id.
  EXPECT_EQ(ScaleFrames(std::vector<int64_t>{6, 1, 1}, {false, true, true}, 4.0),
            (std::vector<int64_t>{1, 1, 1}));
  EXPECT_EQ(ScaleFrames(std::vector<int64_t>{1, 1, 1}, {true, true, true}, 4.0),
            (std::vector<int64_t>{1, 1, 1}));
  EXPECT_EQ(ScaleFrames(std::vector<int64_t>{1, 0}, {false, false}, 4.0),
            (std::vector<int64_t>{0, 1}));
  EXPECT_TRUE(ScaleFrames({}, {}, 2.0).empty());
}

}  // namespace
}  // namespace millrace::speech
