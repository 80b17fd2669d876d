#include "server/http2/read_turns.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace millrace::server {
namespace {

// Reads what is allowed in a round, at so many nanoseconds a byte. Returns the number of bytes.
size_t TakeTurn(ReadTurns& turns, uint64_t round, double cost_of_byte, size_t most = SIZE_MAX) {
  size_t all = 0;
  for (size_t bytes; (bytes = std::min(turns.Allowed(round), most)) != 0; all += bytes) {
    turns.OnRead(bytes);
    turns.OnCost(bytes, static_cast<uint64_t>(static_cast<double>(bytes) * cost_of_byte));
  }
  return all;
}

TEST(ReadTurnsTest, AConnectionReadsNoMoreInARoundThanATurnCosts) {
  ReadTurns turns;
  EXPECT_EQ(TakeTurn(turns, 1, 500), ReadTurns::kFirstBytes);  // more than a turn, as it turns out
  EXPECT_EQ(turns.Allowed(1), 0U);
  EXPECT_EQ(TakeTurn(turns, 2, 500), ReadTurns::kCost / 500);
  EXPECT_EQ(turns.Allowed(2), 0U);
}

TEST(ReadTurnsTest, CheapBytesComeInGrowingPiecesUpToTheCostOfATurn) {
  ReadTurns turns;
  TakeTurn(turns, 1, 2, 100);
  const size_t of_turn = ReadTurns::kCost / 2;
  for (uint64_t round = 2; round < 10; ++round) TakeTurn(turns, round, 2);
  EXPECT_NEAR(static_cast<double>(TakeTurn(turns, 10, 2)), of_turn, of_turn / 10.0);
}

TEST(ReadTurnsTest, EstimatesAreCorrectedByWhatTurnsHaveTaken) {
  ReadTurns turns;
  TakeTurn(turns, 1, 100);
  const size_t usual = TakeTurn(turns, 2, 100);
  EXPECT_TRUE(turns.is_long());
  for (uint64_t round = 3; round < 20; ++round) {
    const size_t bytes = TakeTurn(turns, round, 100);
    turns.OnMeasured(1000 * bytes);
  }
  EXPECT_NEAR(static_cast<double>(TakeTurn(turns, 20, 100)), usual / 10.0, usual / 50.0);
  // They are no less than rough, since much of a cheap turn may be done on other threads.
  for (uint64_t round = 21; round < 40; ++round) {
    TakeTurn(turns, round, 100);
    turns.OnMeasured(1);
  }
  EXPECT_NEAR(static_cast<double>(TakeTurn(turns, 40, 100)), usual, usual / 10.0);
}

TEST(ReadTurnsTest, BytesWhoseCostIsNotKnownYetAreFew) {
  ReadTurns turns;
  turns.OnRead(ReadTurns::kFirstBytes - 1);
  EXPECT_EQ(turns.Allowed(0), 1U);
  turns.OnRead(1);
  EXPECT_EQ(turns.Allowed(0), 0U);
  EXPECT_EQ(turns.Allowed(1), ReadTurns::kFirstBytes);
}

TEST(ReadTurnsTest, TheDearestBytesAreReadAFewAtATime) {
  ReadTurns turns;
  TakeTurn(turns, 1, 1e6);
  EXPECT_EQ(turns.Allowed(2), ReadTurns::kLeastBytes);
}

}  // namespace
}  // namespace millrace::server
