// Connections under TLS, of which the guard reads what was decrypted.

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "server/http2/connection_guard.h"
#include "tests/unit/server/http2/connection_guard_fixture.h"
#include "tests/unit/server/http2/frames.h"

namespace millrace::server {
namespace {

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
    return '\x16' + std::string(10, '\1') + std::string(random.begin(), random.end()) + "and more";
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
  std::string bytes = kTooLong;
  EXPECT_EQ(guard_.OnReceived(*connection, bytes), kPreface.size());
}

class DecryptedConnectionTest : public TlsConnectionGuardTest {
 protected:
  DecryptedConnectionTest() {
    guard_.OnPolled(kFd, {.epoll = 7, .events = 8, .data = 9});
    guard_.OnRound();
  }

  // Reads what costs more than a turn.
  void TakeTurn() {
    std::string calls = kPreface;
    for (uint32_t stream = 1; stream < 60; stream += 2)
      calls += Frame(kHeadersFrame, kEndHeadersFlag, stream, 20);
    ASSERT_LT(calls.size(), guard_.AllowedDecrypted(connection_));
    ASSERT_EQ(guard_.OnReceived(connection_, calls), calls.size());
  }
  // Returns how many bytes gRPC reads that are none of the socket.
  size_t ReadMark() {
    std::string bytes(10, 'x');
    const iovec piece = {bytes.data(), bytes.size()};
    return guard_.ReadMark(kFd, {&piece, 1});
  }

  WatchedConnection& connection_ = *guard_.Watch(kFd, Peer());
  PollEntry entry_;
};

// By what its decrypted bytes cost, which are fewer than those that bound a first turn.
TEST_F(DecryptedConnectionTest, IsReadInTurns) {
  EXPECT_EQ(guard_.Allowed(kFd, entry_), ReadTurns::kFirstBytes);
  EXPECT_TRUE(Receive(kFd, std::string(100, '\x16')));
  EXPECT_EQ(guard_.Allowed(kFd, entry_), ReadTurns::kFirstBytes - 100);
  EXPECT_EQ(guard_.AllowedDecrypted(connection_), ReadTurns::kFirstBytes - 100);
  TakeTurn();
  EXPECT_EQ(guard_.Allowed(kFd, entry_), 0U);
  EXPECT_EQ(guard_.AllowedDecrypted(connection_), 0U);
  guard_.OnRound();
  EXPECT_NE(guard_.Allowed(kFd, entry_), 0U);
  EXPECT_NE(guard_.AllowedDecrypted(connection_), 0U);
}

// TLS holds the rest of a record, of which gRPC would learn only by further bytes of the client.
TEST_F(DecryptedConnectionTest, ARecordThatCostsMoreThanATurnIsReadInSeveral) {
  EXPECT_EQ(ReadMark(), 0U);
  TakeTurn();
  EXPECT_FALSE(guard_.IsWithheld(connection_));
  const std::optional<PollEntry> polled = guard_.Withhold(connection_);
  ASSERT_TRUE(polled);
  EXPECT_EQ(polled->data, 9U);
  EXPECT_FALSE(guard_.Withhold(connection_)) << "is polled already";
  EXPECT_TRUE(guard_.IsWithheld(connection_));
  guard_.OnRound();
  EXPECT_NE(guard_.Allowed(kFd, entry_), 0U);
  EXPECT_EQ(ReadMark(), 1U);
  EXPECT_TRUE(guard_.IsMarked(connection_));
  EXPECT_FALSE(guard_.IsWithheld(connection_));
  EXPECT_EQ(guard_.Allowed(kFd, entry_), 0U) << "other bytes come after the mark";
  guard_.Unmark(connection_);
  EXPECT_FALSE(guard_.IsMarked(connection_));
  EXPECT_NE(guard_.Allowed(kFd, entry_), 0U);
  EXPECT_EQ(ReadMark(), 0U);
}

// TLS takes no more at once, and an error ends the connection.
TEST_F(DecryptedConnectionTest, NoMoreEncryptedBytesAreReadThanTlsTakes) {
  EXPECT_NE(guard_.AllowedDecrypted(connection_), 0U);
  const size_t most = guard_.Allowed(kFd, entry_);
  EXPECT_LE(most, 17U << 10) << "the size of a pair of memory buffers of OpenSSL";
  EXPECT_GE(most, 8U << 10);
  EXPECT_TRUE(Receive(kFd, std::string(most - 10, '\x16')));
  EXPECT_EQ(guard_.Allowed(kFd, entry_), 10U);
  guard_.OnDecrypted(connection_);
  EXPECT_EQ(guard_.Allowed(kFd, entry_), most);
}

}  // namespace
}  // namespace millrace::server
