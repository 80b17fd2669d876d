#include "tests/load/loadgen/player.h"

#include <gtest/gtest.h>

#include <chrono>

namespace millrace::loadgen {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const SteadyTime kPlayerStart = SteadyTime() + seconds(1000);

TEST(PlayerTest, FirstAudioCountsFromTheIntendedStart) {
  Player player(kPlayerStart);
  EXPECT_EQ(player.OnPiece(kPlayerStart + milliseconds(120), 1.0), std::nullopt);
  EXPECT_EQ(player.playback().first_audio, milliseconds(120));
  EXPECT_EQ(player.playback().underruns, 0U);
}

TEST(PlayerTest, PiecesInTimeAreNoUnderrun) {
  Player player(kPlayerStart);
  player.OnPiece(kPlayerStart, 1.0);
  EXPECT_EQ(player.OnPiece(kPlayerStart + milliseconds(900), 0.5), milliseconds(900));
  player.OnPiece(kPlayerStart + milliseconds(1500), 0.5);  // just as the last sample is played
  EXPECT_EQ(player.playback().underruns, 0U);
  EXPECT_EQ(player.playback().stalled, milliseconds(0));
  EXPECT_DOUBLE_EQ(player.playback().audio_seconds, 2.0);
}

TEST(PlayerTest, SilenceIsCountedAndPlayingGoesOnAfterIt) {
  Player player(kPlayerStart);
  player.OnPiece(kPlayerStart, 1.0);
  player.OnPiece(kPlayerStart + milliseconds(1300), 1.0);  // 300 ms of silence
  player.OnPiece(kPlayerStart + milliseconds(2200), 1.0);  // played until 2300: in time
  EXPECT_EQ(player.playback().underruns, 1U);
  EXPECT_EQ(player.playback().stalled, milliseconds(300));
  player.OnPiece(kPlayerStart + milliseconds(3350), 1.0);  // played until 3300
  EXPECT_EQ(player.playback().underruns, 2U);
  EXPECT_EQ(player.playback().stalled, milliseconds(350));
}

}  // namespace
}  // namespace millrace::loadgen
