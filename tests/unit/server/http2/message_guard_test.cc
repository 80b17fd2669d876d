#include "server/http2/message_guard.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace millrace::server {
namespace {

std::string Prefix(uint32_t size) {
  const auto byte = [&](int shift) { return static_cast<char>(size >> shift); };
  return {'\0', byte(24), byte(16), byte(8), byte(0)};
}

std::string Message(uint32_t size) { return Prefix(size) + std::string(size, 'm'); }

// Reads the first message as gRPC would.
std::optional<MessageRefusal> RefusalIn(const std::string& bytes) {
  uint32_t size = 0;
  for (size_t i = 1; i < 5; ++i) size = size << 8 | static_cast<uint8_t>(bytes[i]);
  if (!MessageRefusal::MayHaveSize(size)) return std::nullopt;
  std::array<uint8_t, MessageRefusal::kBytes> start;
  std::copy_n(bytes.begin() + 5, start.size(), start.begin());
  return MessageRefusal::Decode(start);
}

class MessageGuardTest : public ::testing::Test {
 protected:
  static constexpr uint32_t kMost = 0x100000;

  // Returns what gRPC sees.
  std::string Read(std::string bytes, size_t piece) {
    for (size_t at = 0; at < bytes.size(); at += piece) {
      const std::span rest = std::span(bytes).subspan(at);
      EXPECT_GE(guard_.Read(rest.first(std::min(piece, rest.size())), kept_), 0);
    }
    return bytes;
  }

  // Returns how many bytes it took.
  uint64_t TakeAll() {
    uint64_t taken = 0;
    while (kept_.Take(1000, MessageBytes::Shared::kAll)) taken += 1000;
    return taken;
  }

  MessageGuard guard_;
  FrameTotals totals_;
  MessageBytes kept_{kMost, totals_, std::make_shared<ClientTotals>()};
};

TEST_F(MessageGuardTest, LeavesMessagesUpToTheLimitAlone) {
  const std::string all = Message(0) + Message(kMost) + Message(3) + Message(kMost);
  for (const size_t piece : {size_t{100}, size_t{777}, all.size()}) {
    EXPECT_EQ(Read(all, piece), all);
    guard_.End(kept_);
    EXPECT_EQ(kept_.bytes(), 0U);
  }
}

TEST_F(MessageGuardTest, ACompressedMessageIsRefusedBeforeItIsUnpacked) {
  std::string all = Message(1000);
  all[0] = '\1';
  const std::string seen = Read(all, all.size());
  EXPECT_EQ(seen[0], '\0');
  const auto refusal = RefusalIn(seen);
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->reason, MessageRefusal::Reason::kCompressed);
}

TEST_F(MessageGuardTest, NoPartOfACompressedMessageIsUnpackedHoweverItComes) {
  for (const uint32_t size : {3U, 1000U}) {
    MessageGuard guard;
    std::string all = Message(size);
    all[0] = '\1';
    int begun = 0;
    for (size_t at = 0; at < all.size() && begun >= 0; ++at)
      begun = guard.Read(std::span(all).subspan(at, 1), kept_);
    EXPECT_EQ(all[0], '\0');
    // Too short for a refusal, it is no message that a service can read; else the connection ends.
    EXPECT_EQ(begun < 0, size == 1000);
  }
}

TEST_F(MessageGuardTest, CountsTheMessagesThatBegin) {
  std::string all = Message(0) + Message(3) + Prefix(5).substr(0, 1);
  EXPECT_EQ(guard_.Read(all, kept_), 3);
  std::string rest = Prefix(5).substr(1) + "12345";
  EXPECT_EQ(guard_.Read(rest, kept_), 0);
}

TEST_F(MessageGuardTest, PutsARefusalInPlaceOfATooLargeMessage) {
  for (const uint32_t size : {kMost + 1, 2'097'152'000U, 0xffffffffU}) {
    for (const size_t piece : {size_t{1}, size_t{3}, size_t{1000}}) {
      guard_ = MessageGuard();
      const std::string seen = Read(Message(2) + Prefix(size) + std::string(500, 'm'), piece);
      EXPECT_EQ(seen.find('m', 7 + 5 + MessageRefusal::kBytes), std::string::npos)
          << size << ' ' << piece;
      // In pieces, gRPC has a part of this size.
      if (size == kMost + 1 && piece < 1000) continue;
      const auto refusal = RefusalIn(seen.substr(7));
      ASSERT_TRUE(refusal.has_value()) << size << ' ' << piece;
      EXPECT_EQ(refusal->reason, MessageRefusal::Reason::kTooLarge);
    }
  }
}

TEST_F(MessageGuardTest, NamesTheSizeThatCameAtOnce) {
  const std::string seen = Read(Prefix(2 * kMost) + std::string(100, 'm'), 1000);
  ASSERT_TRUE(RefusalIn(seen).has_value());
  EXPECT_EQ(RefusalIn(seen)->size, 2 * kMost);
}

// The size that gRPC sees is then at most that much more than the limit.
TEST_F(MessageGuardTest, ASizeThatComesInPiecesIsStillBounded) {
  const std::string seen = Read(Prefix(kMost + 1) + std::string(100, 'm'), 1);
  EXPECT_EQ(seen.substr(0, 5), Prefix(kMost + MessageRefusal::kBytes));
}

TEST_F(MessageGuardTest, AMessageForWhichThereIsNoRoomIsRefused) {
  const uint64_t all = TakeAll();
  std::string bytes = Prefix(1000) + std::string(100, 'm');
  EXPECT_EQ(guard_.Read(bytes, kept_), 1);
  ASSERT_TRUE(RefusalIn(bytes).has_value());
  EXPECT_EQ(RefusalIn(bytes)->reason, MessageRefusal::Reason::kTooManyAtOnce);
  // One that is shorter than a refusal takes no room.
  MessageGuard small;
  bytes = Message(20);
  EXPECT_EQ(small.Read(bytes, kept_), 1);
  EXPECT_EQ(bytes, Message(20));
  kept_.GiveBack(all);
  MessageGuard third;
  bytes = Prefix(kMost);
  third.Read(bytes, kept_);
  EXPECT_EQ(bytes, Prefix(kMost));
}

TEST_F(MessageGuardTest, APrefixInPiecesCannotGetAroundThat) {
  TakeAll();
  std::string start = Prefix(kMost).substr(0, 4);
  EXPECT_EQ(guard_.Read(start, kept_), 1);
  std::string last = Prefix(kMost).substr(4);
  EXPECT_EQ(guard_.Read(last, kept_), -1);
}

// It is the client's misfortune that a read ended there.
TEST_F(MessageGuardTest, ASmallMessageWhosePrefixCameInPiecesPasses) {
  TakeAll();
  std::string start = Message(1000).substr(0, 3);
  EXPECT_EQ(guard_.Read(start, kept_), 1);
  std::string rest = Message(1000).substr(3);
  EXPECT_EQ(guard_.Read(rest, kept_), 0);
  EXPECT_EQ(rest, Message(1000).substr(3));
}

TEST_F(MessageGuardTest, PiecesOfAMessageTakeMemoryBesideIt) {
  std::string start = Prefix(100'000);
  ASSERT_EQ(guard_.Read(start, kept_), 1);
  int pieces = 0;
  TakeAll();
  std::string piece(1, 'm');
  while (guard_.Read(piece, kept_) >= 0) ASSERT_LT(++pieces, 100'000);
  EXPECT_GT(pieces, 10'000);
}

TEST_F(MessageGuardTest, WhatFollowsARefusalIsKeptToo) {
  std::string bytes = Message(0);
  ASSERT_EQ(guard_.Read(bytes, kept_), 1);
  TakeAll();
  bytes = Message(4000);
  int messages = 0;
  while (guard_.Read(bytes, kept_) >= 0) ASSERT_LT(++messages, 10'000);
}

// Clients send a thousand short ones at once.
TEST_F(MessageGuardTest, ShortFirstMessagesHaveRoomWhereNoOthersHave) {
  MessageGuard further;
  std::string first = Message(1000);
  further.Read(first, kept_);
  while (kept_.Take(1, MessageBytes::Shared::kNotOfCalls)) {
  }
  const auto passes = [&](MessageGuard& guard, uint32_t size) {
    std::string bytes = Prefix(size) + std::string(MessageRefusal::kBytes, 'm');
    EXPECT_EQ(guard.Read(bytes, kept_), 1);
    return !RefusalIn(bytes).has_value();
  };
  EXPECT_FALSE(passes(further, 1000));
  MessageGuard large;
  EXPECT_FALSE(passes(large, 256 << 10));  // more than the bytes that are taken in a step
  for (int i = 0; i < 100; ++i) {
    MessageGuard small;
    EXPECT_TRUE(passes(small, 60'000)) << i;
  }
}

// Most methods read one message, so that short ones which follow would be kept until the call ends.
TEST_F(MessageGuardTest, ShortMessagesThatFollowTakeLessThanLargeOnes) {
  constexpr uint64_t kOwn = MessageBytes::kLeastMessage + MessageBytes::kBesideMessage;
  std::string bytes = Message(0);
  guard_.Read(bytes, kept_);
  const std::string message = Message(4000);
  for (bytes = message; guard_.Read(bytes, kept_) >= 0 && bytes == message;)
    ASSERT_LT(kept_.bytes(), 64 << 20);
  EXPECT_GE(kept_.bytes(), kOwn);
  EXPECT_LE(kept_.bytes(), kOwn + MessageBytes::kFewShared + MessageBytes::kSlack);
  MessageGuard other;
  bytes = Message(0);
  other.Read(bytes, kept_);
  bytes = Prefix(256 << 10);
  other.Read(bytes, kept_);
  EXPECT_EQ(bytes, Prefix(256 << 10));
}

// gRPC keeps what a client sends beyond what a method reads.
TEST_F(MessageGuardTest, AMessageIsKeptUntilTheServerHasReadIt) {
  const uint64_t each = 1000 + MessageGuard::kPieceBytes;
  std::string bytes = Message(1000);
  guard_.Read(bytes, kept_);
  guard_.Read(bytes, kept_);
  EXPECT_EQ(kept_.bytes(), 2 * each);
  guard_.OnRead(500, kept_);
  EXPECT_EQ(kept_.bytes(), 2 * each - 500);
  std::string begun = Prefix(5000);
  guard_.Read(begun, kept_);
  guard_.OnRead(1 << 20, kept_);
  EXPECT_EQ(kept_.bytes(), 5000 + MessageGuard::kPieceBytes);
  guard_.End(kept_);
  EXPECT_EQ(kept_.bytes(), 0U);
}

TEST(MessageRefusalTest, NoOtherMessageIsTakenForOne) {
  MessageRefusal::Bytes bytes = MessageRefusal{.size = 7}.Encode();
  EXPECT_TRUE(MessageRefusal::Decode(bytes).has_value());
  bytes[3] ^= 1;
  EXPECT_FALSE(MessageRefusal::Decode(bytes).has_value());
}

}  // namespace
}  // namespace millrace::server
