#include "server/http2/peer_penalties.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/fakes/peer_at.h"

namespace millrace::server {
namespace {

using testing::PeerAt;

class PeerPenaltiesTest : public ::testing::Test {
 protected:
  PeerPenalties penalties_;
  TimePoint now_{std::chrono::hours(1)};
};

TEST_F(PeerPenaltiesTest, NobodyWaitsWhoDidNothing) {
  penalties_.Add(PeerAt("192.0.2.1"), now_);
  EXPECT_EQ(penalties_.Delay(PeerAt("192.0.2.2"), now_), Duration::zero());
}

TEST_F(PeerPenaltiesTest, DelayDoublesUpToTheLongest) {
  const Peer peer = PeerAt("192.0.2.1");
  Duration expected = PeerPenalties::kFirst;
  for (int i = 0; i < 10; ++i) {
    penalties_.Add(peer, now_);
    EXPECT_EQ(penalties_.Delay(peer, now_), std::min(expected, PeerPenalties::kLongest)) << i;
    expected *= 2;
  }
}

TEST_F(PeerPenaltiesTest, IsForgottenInTime) {
  const Peer peer = PeerAt("192.0.2.1");
  penalties_.Add(peer, now_);
  penalties_.Add(peer, now_);
  now_ += PeerPenalties::kMemory + std::chrono::milliseconds(1);
  EXPECT_EQ(penalties_.Delay(peer, now_), Duration::zero());
  penalties_.Add(peer, now_);
  EXPECT_EQ(penalties_.Delay(peer, now_), PeerPenalties::kFirst);
}

TEST_F(PeerPenaltiesTest, ManyPeersDoNotFillTheMemoryAndNewOnesAreKnownLater) {
  for (int i = 0; i < 10'000; ++i) {
    const std::string text = "10.0." + std::to_string(i / 256) + "." + std::to_string(i % 256);
    penalties_.Add(PeerAt(text), now_);
  }
  EXPECT_EQ(penalties_.Delay(PeerAt("10.0.39.0"), now_), Duration::zero());
  now_ += PeerPenalties::kMemory + std::chrono::milliseconds(1);
  penalties_.Add(PeerAt("10.0.39.0"), now_);
  EXPECT_EQ(penalties_.Delay(PeerAt("10.0.39.0"), now_), PeerPenalties::kFirst);
}

TEST_F(PeerPenaltiesTest, ConnectionsWithoutAnAnswerAreBounded) {
  const Peer peer = PeerAt("192.0.2.1");
  for (int i = 0; i < PeerPenalties::kUnansweredAtOnce; ++i) penalties_.AddUnanswered(peer, now_);
  EXPECT_EQ(penalties_.Delay(peer, now_), Duration::zero());
  penalties_.AddUnanswered(peer, now_);
  EXPECT_EQ(penalties_.Delay(peer, now_), PeerPenalties::kFirst);
  penalties_.AddUnanswered(peer, now_);
  EXPECT_EQ(penalties_.Delay(peer, now_), 2 * PeerPenalties::kFirst);
  EXPECT_EQ(penalties_.Delay(PeerAt("192.0.2.2"), now_), Duration::zero());
}

// Such as those of a balancer that looks whether the port is open.
TEST_F(PeerPenaltiesTest, ConnectionsWithoutAnAnswerMayComeNowAndThenForEver) {
  const Peer peer = PeerAt("192.0.2.1");
  for (int i = 0; i < 10'000; ++i) {
    now_ += std::chrono::milliseconds(1000) / PeerPenalties::kUnansweredPerSecond;
    penalties_.AddUnanswered(peer, now_);
    ASSERT_EQ(penalties_.Delay(peer, now_), Duration::zero()) << i;
  }
}

}  // namespace
}  // namespace millrace::server
