#include "server/http2/peer.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

#include <string>

#include "server/http2/peer_penalties.h"

namespace millrace::server {
namespace {

Peer V4(const char* text, uint16_t port = 1) {
  sockaddr_storage storage = {};
  auto& address = reinterpret_cast<sockaddr_in&>(storage);
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  EXPECT_EQ(inet_pton(AF_INET, text, &address.sin_addr), 1);
  return Peer(storage);
}

Peer V6(const char* text) {
  sockaddr_storage storage = {};
  auto& address = reinterpret_cast<sockaddr_in6&>(storage);
  address.sin6_family = AF_INET6;
  EXPECT_EQ(inet_pton(AF_INET6, text, &address.sin6_addr), 1);
  return Peer(storage);
}

TEST(PeerTest, IsAnAddressWithoutItsPort) {
  EXPECT_EQ(V4("192.0.2.1", 1), V4("192.0.2.1", 2));
  EXPECT_NE(V4("192.0.2.1"), V4("192.0.2.2"));
  EXPECT_EQ(V4("192.0.2.1").ToString(), "192.0.2.1");
}

TEST(PeerTest, IsANetworkOfIpv6) {
  EXPECT_EQ(V6("2001:db8::1"), V6("2001:db8::ffff:1"));
  EXPECT_NE(V6("2001:db8::1"), V6("2001:db8:0:1::1"));
  EXPECT_EQ(V6("2001:db8::1").ToString(), "2001:db8::/64");
}

TEST(PeerTest, Ipv4IsTheSameOverASocketOfIpv6) {
  EXPECT_EQ(V6("::ffff:192.0.2.1"), V4("192.0.2.1"));
  EXPECT_NE(V6("::ffff:192.0.2.1"), V6("::ffff:192.0.2.2"));
}

TEST(PeerTest, AnAddressMayBeText) {
  EXPECT_EQ(Peer("192.0.2.1"), V4("192.0.2.1"));
  EXPECT_EQ(Peer("::ffff:192.0.2.1"), V4("192.0.2.1"));
  EXPECT_EQ(Peer("2001:db8::1"), V6("2001:db8::2"));
  EXPECT_EQ(Peer("fe80::1%eth0"), V6("fe80::1"));
  EXPECT_EQ(Peer(""), Peer("no address"));
}

class PeerPenaltiesTest : public ::testing::Test {
 protected:
  PeerPenalties penalties_;
  TimePoint now_{std::chrono::hours(1)};
};

TEST_F(PeerPenaltiesTest, NobodyWaitsWhoDidNothing) {
  penalties_.Add(V4("192.0.2.1"), now_);
  EXPECT_EQ(penalties_.Delay(V4("192.0.2.2"), now_), Duration::zero());
}

TEST_F(PeerPenaltiesTest, DelayDoublesUpToTheLongest) {
  const Peer peer = V4("192.0.2.1");
  Duration expected = PeerPenalties::kFirst;
  for (int i = 0; i < 10; ++i) {
    penalties_.Add(peer, now_);
    EXPECT_EQ(penalties_.Delay(peer, now_), std::min(expected, PeerPenalties::kLongest)) << i;
    expected *= 2;
  }
}

TEST_F(PeerPenaltiesTest, IsForgottenInTime) {
  const Peer peer = V4("192.0.2.1");
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
    penalties_.Add(V4(text.c_str()), now_);
  }
  EXPECT_EQ(penalties_.Delay(V4("10.0.39.0"), now_), Duration::zero());
  now_ += PeerPenalties::kMemory + std::chrono::milliseconds(1);
  penalties_.Add(V4("10.0.39.0"), now_);
  EXPECT_EQ(penalties_.Delay(V4("10.0.39.0"), now_), PeerPenalties::kFirst);
}

}  // namespace
}  // namespace millrace::server
