#include "server/http2/connection_guard.h"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "tests/fakes/peer_at.h"
#include "tests/unit/server/http2/connection_guard_fixture.h"
#include "tests/unit/server/http2/frames.h"

namespace millrace::server {
namespace {

TEST_F(ConnectionGuardTest, CountsTheCallsOfAConnection) {
  const WatchedConnection* connection = guard_.Watch(kFd, Peer());
  ASSERT_NE(connection, nullptr);
  EXPECT_TRUE(Receive(kFd, kPreface));
  EXPECT_EQ(connection->calls(), 0U);
  EXPECT_TRUE(Receive(kFd, Frame(kHeadersFrame, kEndHeadersFlag, 1, 100) +
                               Frame(kHeadersFrame, kEndHeadersFlag, 3, 100)));
  EXPECT_EQ(connection->calls(), 2U);
}

TEST_F(ConnectionGuardTest, AbuseEndsAConnectionAndIsCountedOnce) {
  guard_.Watch(kFd, Peer());
  const auto closed = [&] {
    return guard_.counts().closed[static_cast<size_t>(FrameAbuse::kHeaders)];
  };
  const uint64_t before = closed();
  EXPECT_FALSE(Receive(kFd, kTooLong));
  EXPECT_FALSE(Receive(kFd, "more"));
  EXPECT_EQ(closed(), before + 1);
  EXPECT_GT(guard_.Delay(Peer(), std::chrono::steady_clock::now()), Duration::zero());
}

TEST_F(ConnectionGuardTest, TheNextConnectionOfADescriptorBeginsAnew) {
  guard_.Watch(kFd, Peer());
  EXPECT_FALSE(Receive(kFd, kTooLong));
  const WatchedConnection* connection = guard_.Watch(kFd, Peer());
  EXPECT_TRUE(Receive(kFd, kPreface + Frame(kHeadersFrame, kEndHeadersFlag, 1, 100)));
  EXPECT_EQ(connection->calls(), 1U);
}

TEST_F(ConnectionGuardTest, OtherDescriptorsAreLeftAlone) {
  EXPECT_TRUE(Receive(kUnwatched, kTooLong));
  EXPECT_TRUE(Receive(-1, kTooLong));
  EXPECT_TRUE(Receive(1 << 30, kTooLong));
  EXPECT_EQ(guard_.Watch(1 << 30, Peer()), nullptr);
}

TEST_F(ConnectionGuardTest, WhatIsSentEndsStreams) {
  guard_.Configure({.streams = 1}, /*tls=*/false);
  WatchedConnection* const connection = guard_.Watch(kFd, Peer());
  ASSERT_NE(connection, nullptr);
  EXPECT_TRUE(Receive(kFd, kPreface + Frame(kHeadersFrame, kEndHeadersFlag, 1, 100)));
  std::string trailers = Frame(kHeadersFrame, kEndHeadersFlag | kEndStreamFlag, 1, 50);
  const std::array<iovec, 2> pieces = {
      {{trailers.data(), 5}, {trailers.data() + 5, trailers.size() + 100}}};
  // The whole frame counts, which the socket has not taken at first.
  guard_.OnSent(kFd, pieces, 4);
  trailers.erase(0, 4);
  const std::array<iovec, 1> rest = {{{trailers.data(), trailers.size()}}};
  guard_.OnSent(kFd, rest, trailers.size());
  EXPECT_TRUE(Receive(kFd, Frame(kHeadersFrame, kEndHeadersFlag, 3, 100)));
  EXPECT_FALSE(Receive(kFd, Frame(kHeadersFrame, kEndHeadersFlag, 5, 100)));
}

// gRPC sees the harmless part of what came, then the ends of the calls, a few in each round.
TEST_F(ConnectionGuardTest, TheCallsOfAConnectionThatEndsAreEndedInTurns) {
  constexpr size_t kCalls = 3 * GradualEnd::kCallsAtOnce;
  const auto calls = [](size_t count) {
    std::string frames;
    for (uint32_t call = 0; call < count; ++call)
      frames += Frame(kHeadersFrame, kEndHeadersFlag, 2 * call + 1, 100);
    return frames;
  };
  PollEntry entry;
  std::string buffer(8192, '\0');
  const std::array<iovec, 1> pieces = {{{buffer.data(), buffer.size()}}};
  for (const bool hangs_up : {true, false}) {
    guard_.Watch(kFd, Peer());
    guard_.OnPolled(kFd, {.epoll = 7});
    ASSERT_TRUE(Receive(kFd, kPreface + calls(kCalls)));
    EXPECT_FALSE(guard_.IsEnding(kFd));
    EXPECT_TRUE(hangs_up || !Receive(kFd, Frame(kHeadersFrame, 0, 99, 5000)));
    EXPECT_TRUE(guard_.BeginEnd(kFd));
    EXPECT_TRUE(guard_.IsEnding(kFd));
    size_t rounds = 0;
    guard_.OnRound();
    EXPECT_NE(guard_.Allowed(kFd, entry), 0U);
    while (guard_.ReadEnd(kFd, pieces) != 0) {
      EXPECT_EQ(guard_.Allowed(kFd, entry), 0U);
      guard_.OnRound();
      EXPECT_NE(guard_.Allowed(kFd, entry), 0U);
      ++rounds;
    }
    EXPECT_EQ(rounds, 3U);
  }
  guard_.Watch(kFd, Peer());
  EXPECT_FALSE(guard_.IsEnding(kFd));
  EXPECT_TRUE(Receive(kFd, kPreface + calls(GradualEnd::kCallsAtOnce)));
  EXPECT_FALSE(guard_.BeginEnd(kFd));
  EXPECT_FALSE(guard_.BeginEnd(kUnwatched));
}

// Decrypted bytes then, of which gRPC asks for more once it has read one of the socket.
TEST_F(ConnectionGuardTest, TheCallsOfAnEncryptedConnectionThatEndsAreEndedInTurns) {
  guard_.Configure({}, /*tls=*/true);
  WatchedConnection& connection = *guard_.Watch(kFd, Peer());
  guard_.OnPolled(kFd, {.epoll = 7});
  std::string frames = kPreface;
  for (uint32_t call = 0; call < 3 * GradualEnd::kCallsAtOnce; ++call)
    frames += Frame(kHeadersFrame, kEndHeadersFlag, 2 * call + 1, 100);
  ASSERT_EQ(guard_.OnReceived(connection, frames), frames.size());
  std::string buffer(8192, '\0');
  const std::array<iovec, 1> pieces = {{{buffer.data(), buffer.size()}}};
  EXPECT_EQ(guard_.ReadEnd(kFd, pieces), 0U);
  EXPECT_TRUE(guard_.BeginEnd(connection));
  EXPECT_TRUE(guard_.IsEnding(kFd));
  // Bytes that are decrypted afterwards come too late.
  EXPECT_EQ(guard_.OnReceived(connection, frames), 0U);
  PollEntry entry;
  for (size_t round = 0; round < 3; ++round) {
    guard_.OnRound();
    EXPECT_NE(guard_.Allowed(kFd, entry), 0U);
    EXPECT_EQ(guard_.ReadEnd(connection, buffer), 0U);
    EXPECT_EQ(guard_.ReadEnd(kFd, pieces), 1U);
    EXPECT_EQ(guard_.Allowed(kFd, entry), 0U);
    EXPECT_EQ(guard_.ReadEnd(connection, buffer), 13 * GradualEnd::kCallsAtOnce);
    EXPECT_EQ(guard_.ReadEnd(connection, buffer), 0U);
  }
  EXPECT_EQ(guard_.ReadEnd(kFd, pieces), 0U);
}

TEST_F(ConnectionGuardTest, APeerThatOnlyHangsUpHasToWait) {
  const auto hang_up = [&](const Peer& peer, bool answered) {
    WatchedConnection& connection = *guard_.Watch(kFd, peer);
    EXPECT_TRUE(Receive(kFd, kPreface + Frame(kHeadersFrame, kEndHeadersFlag, 1, 100)));
    std::string answer = Frame(kDataFrame, 0, 1, 5);
    const std::array<iovec, 1> pieces = {{{answer.data(), answer.size()}}};
    if (answered) guard_.OnSent(kFd, pieces, answer.size());
    guard_.OnEnded(connection, /*closed=*/false, std::chrono::steady_clock::now());
  };
  const Peer served = testing::PeerAt("192.0.2.71");
  const Peer hangs_up = testing::PeerAt("192.0.2.72");
  // However long these take, more than the rate allows.
  for (int i = 0; i < 10 * PeerPenalties::kUnansweredAtOnce; ++i) {
    hang_up(served, /*answered=*/true);
    hang_up(hangs_up, /*answered=*/false);
  }
  const TimePoint now = std::chrono::steady_clock::now();
  EXPECT_EQ(guard_.Delay(served, now), Duration::zero());
  EXPECT_GT(guard_.Delay(hangs_up, now), Duration::zero());
}

// They are mistakes, so that nobody has to wait.
TEST_F(ConnectionGuardTest, OtherProtocolsAreEndedAndCounted) {
  const auto closed = [&] {
    return guard_.counts().closed[static_cast<size_t>(FrameAbuse::kProtocol)];
  };
  const uint64_t before = closed();
  const Peer peer = testing::PeerAt("192.0.2.70");
  for (const char* bytes : {"GET / HTTP/1.1\r\n", "\x16\x03\x01", "PRI * HTTP/2.0\r\n\r\nNO"}) {
    guard_.Watch(kFd, peer);
    EXPECT_FALSE(Receive(kFd, bytes));
  }
  guard_.Configure({}, /*tls=*/true);
  guard_.Watch(kFd, peer);
  EXPECT_FALSE(Receive(kFd, kPreface));
  guard_.Watch(kFd, peer);
  EXPECT_TRUE(Receive(kFd, std::string("\x16\x03\x01\0\0\x01", 6)));
  EXPECT_EQ(closed(), before + 4);
  EXPECT_EQ(guard_.Delay(peer, std::chrono::steady_clock::now()), Duration::zero());
}

class CrowdedTest : public ConnectionGuardTest {
 protected:
  CrowdedTest() {
    guard_.Configure({.all_calls = 40}, /*tls=*/false);
    guard_.SetOnMustEnd([this] { ++ended_; });
  }
  ~CrowdedTest() override {
    guard_.SetOnMustEnd(nullptr);
    for (WatchedConnection* connection : watched_)
      guard_.OnEnded(*connection, /*closed=*/false, std::chrono::steady_clock::now());
  }

  WatchedConnection& Watch(int fd, const char* address) {
    WatchedConnection& connection = *guard_.Watch(fd, testing::PeerAt(address));
    EXPECT_TRUE(Receive(fd, kPreface));
    watched_.push_back(&connection);
    return connection;
  }
  std::string Calls(uint32_t count) {
    std::string calls;
    for (uint32_t call = 0; call < count; ++call)
      calls += Frame(kHeadersFrame, kEndHeadersFlag, next_stream_ += 2, 100);
    return calls;
  }
  // Returns false if the connection has ended.
  bool Call(int fd, uint32_t count) { return Receive(fd, Calls(count)); }

  std::vector<WatchedConnection*> watched_;
  uint32_t next_stream_ = 1;
  int ended_ = 0;
};

TEST_F(CrowdedTest, AConnectionThatHasEndedLeavesItsCallsToOthers) {
  WatchedConnection& first = Watch(kFd, "192.0.2.83");
  EXPECT_TRUE(Call(kFd, 20));
  guard_.OnEnded(first, /*closed=*/false, std::chrono::steady_clock::now());
  Watch(kFd + 1, "192.0.2.83");
  EXPECT_TRUE(Call(kFd + 1, 20));
  // A descriptor that is watched again has left too.
  Watch(kFd + 1, "192.0.2.83");
  EXPECT_TRUE(Call(kFd + 1, 20));
  EXPECT_EQ(ended_, 0);
}

TEST_F(CrowdedTest, OfAnAddressThatHasItsShareTheConnectionEndsThatWaitedForLongest) {
  const WatchedConnection& watch = Watch(kFd, "192.0.2.84");
  EXPECT_TRUE(Call(kFd, 1));
  const WatchedConnection& holds = Watch(kFd + 1, "192.0.2.84");
  EXPECT_TRUE(Call(kFd + 1, 5));
  const WatchedConnection& holds_too = Watch(kFd + 2, "192.0.2.84");
  EXPECT_TRUE(Call(kFd + 2, 5));
  const WatchedConnection& other = Watch(kFd + 3, "192.0.2.85");
  EXPECT_TRUE(Call(kFd + 3, 1));
  const WatchedConnection& busy = Watch(kFd + 4, "192.0.2.84");
  EXPECT_TRUE(Call(kFd + 4, 8));
  EXPECT_EQ(ended_, 0);
  EXPECT_TRUE(Call(kFd + 4, 1));
  EXPECT_EQ(ended_, 1);
  EXPECT_TRUE(holds.must_end());
  EXPECT_FALSE(Receive(kFd + 1, "more"));
  EXPECT_TRUE(Call(kFd + 4, 4));
  EXPECT_EQ(ended_, 1);
  EXPECT_TRUE(Call(kFd + 4, 1));
  EXPECT_TRUE(holds_too.must_end());
  for (const WatchedConnection* connection : {&watch, &other, &busy})
    EXPECT_FALSE(connection->must_end());
}

TEST_F(CrowdedTest, AConnectionThatHoldsAllCallsOfAnAddressMakesRoom) {
  const WatchedConnection& all = Watch(kFd, "192.0.2.86");
  EXPECT_TRUE(Call(kFd, 20));
  EXPECT_FALSE(Call(kFd, 1));
  EXPECT_TRUE(all.must_end());
}

TEST_F(CrowdedTest, AConnectionWithoutCallsKeepsNoOtherFromMakingRoom) {
  const WatchedConnection& idle = Watch(kFd, "192.0.2.87");
  const WatchedConnection& all = Watch(kFd + 1, "192.0.2.87");
  const WatchedConnection& idle_too = Watch(kFd + 2, "192.0.2.87");
  EXPECT_TRUE(Call(kFd + 1, 20));
  EXPECT_FALSE(Call(kFd + 1, 1));
  EXPECT_TRUE(all.must_end());
  for (const WatchedConnection* connection : {&idle, &idle_too})
    EXPECT_FALSE(connection->must_end());
}

TEST_F(CrowdedTest, AsManyConnectionsEndAsManyCallsNeed) {
  const WatchedConnection& first = Watch(kFd, "192.0.2.88");
  EXPECT_TRUE(Call(kFd, 7));
  const WatchedConnection& second = Watch(kFd + 1, "192.0.2.88");
  EXPECT_TRUE(Call(kFd + 1, 7));
  WatchedConnection& third = Watch(kFd + 2, "192.0.2.88");
  EXPECT_TRUE(Call(kFd + 2, 6));
  WatchedConnection& served = Watch(kFd + 3, "192.0.2.88");
  std::string calls = Calls(14);
  EXPECT_TRUE(guard_.OnReceived(served, calls));
  EXPECT_TRUE(first.must_end());
  EXPECT_TRUE(second.must_end());
  for (const WatchedConnection* connection : {&third, &served})
    EXPECT_FALSE(connection->must_end());
}

TEST_F(CrowdedTest, TheCallsOfAnAbuserEndWithIt) {
  Watch(kFd, "192.0.2.89");
  EXPECT_TRUE(Call(kFd, 15));
  const std::string no_headers = Frame(kHeadersFrame, 0, next_stream_ += 2, 1 << 20);
  EXPECT_FALSE(Receive(kFd, no_headers));
  const WatchedConnection& next = Watch(kFd + 1, "192.0.2.89");
  EXPECT_TRUE(Call(kFd + 1, 20));
  EXPECT_FALSE(next.must_end());
}

TEST_F(CrowdedTest, ManyAddressesKeepNobodyOut) {
  guard_.Configure({.streams = 5000, .all_calls = 4096}, /*tls=*/false);
  uint32_t open = 0;
  for (int address = 0; address < 12; ++address) {
    const std::string name = "198.51.100." + std::to_string(address + 1);
    Watch(kFd + address, name.c_str());
    EXPECT_TRUE(Call(kFd + address, (4096 - open) / 2));
    open += (4096 - open) / 2;
  }
  ASSERT_EQ(open, 4095U);
  const WatchedConnection& last = Watch(kFd + 20, "192.0.2.90");
  EXPECT_TRUE(Call(kFd + 20, 2));
  EXPECT_FALSE(last.must_end());
  EXPECT_FALSE(Call(kFd + 20, 1));
  EXPECT_TRUE(last.must_end());
}

TEST_F(ConnectionGuardTest, AnAcknowledgementIsSeen) {
  const WatchedConnection* connection = guard_.Watch(kFd, Peer());
  EXPECT_TRUE(Receive(kFd, kPreface + Frame(kSettingsFrame, 0, 0, 0)));
  EXPECT_FALSE(connection->acknowledged());
  EXPECT_TRUE(Receive(kFd, Frame(kSettingsFrame, kAckFlag, 0, 0)));
  EXPECT_TRUE(connection->acknowledged());
}

// Ending a connection cancels its calls as resets would.
TEST_F(ConnectionGuardTest, APeerThatLeavesManyYoungCallsIsDelayed) {
  const Peer few = testing::PeerAt("192.0.2.81");
  const Peer many = testing::PeerAt("192.0.2.82");
  guard_.Configure({.resets_per_second = 40}, /*tls=*/false);
  for (const auto& [peer, calls] : {std::pair(few, 10U), std::pair(many, 11U)}) {
    WatchedConnection* const connection = guard_.Watch(kFd, peer);
    std::string bytes = kPreface;
    for (uint32_t call = 0; call < calls; ++call)
      bytes += Frame(kHeadersFrame, kEndHeadersFlag, 2 * call + 1, 100);
    EXPECT_TRUE(Receive(kFd, bytes));
    guard_.OnEnded(*connection, /*closed=*/false, std::chrono::steady_clock::now());
  }
  EXPECT_EQ(guard_.Delay(few, std::chrono::steady_clock::now()), Duration::zero());
  EXPECT_GT(guard_.Delay(many, std::chrono::steady_clock::now()), Duration::zero());
}

// gRPC closes connections for errors that the guard does not know, and their clients would be back
// at once.
TEST_F(ConnectionGuardTest, APeerWhoseErrorsEndAConnectionIsDelayed) {
  const auto goaway = [](char error) {
    return MakeFrameHeader(kGoawayFrame, 0, 0, 12) + std::string("\x7f\xff\xff\xff\0\0\0", 7) +
           error + "text";
  };
  const std::string leave = goaway('\0');
  const std::string too_many_pings = goaway('\x0b');
  struct Case {
    const char* address;
    std::string sent;
    bool closed;
    bool has_left;
    bool delayed;
  };
  const std::array cases = {Case{"192.0.2.91", "", true, false, true},
                            Case{"192.0.2.92", too_many_pings, true, false, true},
                            Case{"192.0.2.93", leave, true, false, false},
                            Case{"192.0.2.94", "", false, false, false},
                            Case{"192.0.2.95", "", true, true, false}};
  for (const auto& [address, sent, closed, has_left, delayed] : cases) {
    const uint64_t counted = guard_.counts().closed[static_cast<size_t>(FrameAbuse::kErrors)];
    const Peer peer = testing::PeerAt(address);
    WatchedConnection* const connection = guard_.Watch(kFd, peer);
    EXPECT_TRUE(Receive(kFd, kPreface));
    std::string bytes = sent;
    for (char& byte : bytes) {
      const iovec piece = {&byte, 1};
      guard_.OnSent(kFd, {&piece, 1}, 1);
    }
    if (has_left) guard_.OnHungUp(kFd, 0);
    const TimePoint now = std::chrono::steady_clock::now();
    guard_.OnEnded(*connection, closed, now);
    EXPECT_EQ(guard_.Delay(peer, now) > Duration::zero(), delayed) << address;
    EXPECT_EQ(guard_.counts().closed[static_cast<size_t>(FrameAbuse::kErrors)] - counted,
              delayed ? 1U : 0U)
        << address;
  }
}

TEST_F(ConnectionGuardTest, AClientOfAnotherProtocolIsNotDelayed) {
  const Peer peer = testing::PeerAt("192.0.2.96");
  WatchedConnection* const connection = guard_.Watch(kFd, peer);
  const TimePoint now = std::chrono::steady_clock::now();
  guard_.OnEnded(*connection, /*closed=*/true, now);
  EXPECT_EQ(guard_.Delay(peer, now), Duration::zero());
}

TEST_F(ConnectionGuardTest, APeerThatLeavesManyBytesUnreadIsDelayed) {
  const Peer peer = testing::PeerAt("192.0.2.83");
  guard_.Watch(kFd, peer);
  guard_.OnHungUp(kFd, 1000);
  EXPECT_EQ(guard_.Delay(peer, std::chrono::steady_clock::now()), Duration::zero());
  guard_.OnHungUp(kFd, 100'000);
  EXPECT_GT(guard_.Delay(peer, std::chrono::steady_clock::now()), Duration::zero());
}

TEST_F(ConnectionGuardTest, AConnectionHasATurnInEachRound) {
  guard_.Watch(kFd, Peer());
  PollEntry entry;
  EXPECT_EQ(guard_.Allowed(kFd, entry), SIZE_MAX);  // until it is polled
  guard_.OnPolled(kFd, {.epoll = 3, .events = 4, .data = 5});
  EXPECT_NE(guard_.Allowed(kFd, entry), SIZE_MAX);
  std::string calls = kPreface;
  for (uint32_t call = 0; call < 30; ++call)
    calls += Frame(kHeadersFrame, kEndHeadersFlag, 2 * call + 1, 100);
  EXPECT_TRUE(Receive(kFd, calls));
  EXPECT_EQ(guard_.Allowed(kFd, entry), 0U);
  EXPECT_EQ(entry.epoll, 3);
  EXPECT_EQ(entry.events, 4U);
  EXPECT_EQ(entry.data, 5U);
  guard_.OnRound();
  const size_t few = guard_.Allowed(kFd, entry);
  EXPECT_GT(few, 0U);
  EXPECT_LT(few, calls.size());
  EXPECT_EQ(guard_.Allowed(kFd + 5, entry), SIZE_MAX);  // nobody's
}

TEST_F(ConnectionGuardTest, ANumberThatGoesToAnotherSocketIsNoConnection) {
  guard_.Watch(kFd, Peer());
  guard_.OnPolled(kFd, {.epoll = 3});
  EXPECT_FALSE(Receive(kFd, kTooLong));
  guard_.OnPolled(kFd, {.epoll = 3});
  PollEntry entry;
  EXPECT_EQ(guard_.Allowed(kFd, entry), SIZE_MAX);
  EXPECT_TRUE(Receive(kFd, kTooLong));
}

}  // namespace
}  // namespace millrace::server
