#include "server/http2/connection_guard.h"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <string>
#include <utility>

#include "tests/unit/server/http2/frames.h"

namespace millrace::server {
namespace {

constexpr int kFd = 1000;
const std::string kTooLong = kPreface + Frame(kHeadersFrame, 0, 1, 5000);

// The process has one guard; each test watches the descriptor anew.
class ConnectionGuardTest : public ::testing::Test {
 protected:
  ConnectionGuardTest() {
    guard_.Configure({.header_bytes = 1000}, /*tls=*/false);
    guard_.SetHooked();
  }

  // In two pieces, as gRPC reads.
  bool Receive(int fd, std::string bytes) {
    const size_t half = bytes.size() / 2;
    const std::array<iovec, 2> pieces = {
        {{bytes.data(), half}, {bytes.data() + half, bytes.size() - half + 100}}};
    return guard_.OnReceived(fd, pieces, bytes.size());
  }

  ConnectionGuard& guard_ = ConnectionGuard::Process();
};

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
  const uint64_t before = guard_.counts().headers;
  EXPECT_FALSE(Receive(kFd, kTooLong));
  EXPECT_FALSE(Receive(kFd, "more"));
  EXPECT_EQ(guard_.counts().headers, before + 1);
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
  EXPECT_TRUE(Receive(kFd + 1, kTooLong));
  EXPECT_TRUE(Receive(-1, kTooLong));
  EXPECT_TRUE(Receive(1 << 30, kTooLong));
  EXPECT_EQ(guard_.Watch(1 << 30, Peer()), nullptr);
}

class TlsConnectionGuardTest : public ConnectionGuardTest {
 protected:
  TlsConnectionGuardTest() { guard_.Configure({.header_bytes = 1000}, /*tls=*/true); }

  static TlsRandom Random(uint8_t seed) {
    TlsRandom random;
    random.fill(seed);
    return random;
  }
  static std::string Hello(uint8_t seed) {
    const TlsRandom random = Random(seed);
    return std::string(11, '\1') + std::string(random.begin(), random.end()) + "and more";
  }
};

TEST_F(TlsConnectionGuardTest, ASessionIsFoundByItsHelloOnce) {
  const WatchedConnection* first = guard_.Watch(kFd, Peer());
  const WatchedConnection* second = guard_.Watch(kFd + 1, Peer());
  for (const char byte : Hello(1)) EXPECT_TRUE(Receive(kFd, std::string(1, byte)));
  EXPECT_TRUE(Receive(kFd + 1, Hello(2)));
  EXPECT_EQ(guard_.FindTls(Random(2)), second);
  EXPECT_EQ(guard_.FindTls(Random(1)), first);
  EXPECT_EQ(guard_.FindTls(Random(1)), nullptr);
  EXPECT_EQ(guard_.FindTls(Random(3)), nullptr);
}

TEST_F(TlsConnectionGuardTest, AHandshakeThatCameToNothingIsForgotten) {
  guard_.Watch(kFd, Peer());
  EXPECT_TRUE(Receive(kFd, Hello(1)));
  const WatchedConnection* connection = guard_.Watch(kFd, Peer());
  EXPECT_TRUE(Receive(kFd, Hello(2)));
  EXPECT_EQ(guard_.FindTls(Random(1)), nullptr);
  EXPECT_EQ(guard_.FindTls(Random(2)), connection);
}

TEST_F(TlsConnectionGuardTest, OnlyWhatWasDecryptedIsReadAsFrames) {
  guard_.Watch(kFd, Peer());
  EXPECT_TRUE(Receive(kFd, Hello(1)));
  EXPECT_TRUE(Receive(kFd, kTooLong));
  WatchedConnection* const connection = guard_.FindTls(Random(1));
  ASSERT_NE(connection, nullptr);
  EXPECT_FALSE(guard_.OnReceived(*connection, kTooLong));
}

}  // namespace
}  // namespace millrace::server
