#include "server/http2/message_bytes.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace millrace::server {
namespace {

using Shared = MessageBytes::Shared;

constexpr uint64_t kLargest = MessageBytes::kLeastMessage;
constexpr uint64_t kOwn = kLargest + MessageBytes::kBesideMessage;
constexpr uint64_t kShared = 2 * kLargest;

class MessageBytesTest : public ::testing::Test {
 protected:
  using Address = std::shared_ptr<ClientTotals>;

  MessageBytes Connection(const Address& address) { return {kLargest, totals_, address}; }

  FrameTotals totals_;
  Address address_ = std::make_shared<ClientTotals>();
};

TEST_F(MessageBytesTest, ThreeMessagesOfTheLargestSizeMayComeAtOnce) {
  for (const uint64_t max_message : {uint64_t{1} << 20, kLargest, uint64_t{1} << 30}) {
    MessageBytes bytes(max_message, totals_, address_);
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(bytes.Take(max_message, Shared::kNotOfCalls));
    EXPECT_EQ(bytes.Take(max_message, Shared::kNotOfCalls), max_message < kLargest);
    bytes.Leave();
    EXPECT_EQ(totals_.shared_message_bytes, 0U);
    EXPECT_EQ(totals_.message_bytes, 0U);
  }
}

TEST_F(MessageBytesTest, AConnectionHasItsOwnBytesWhateverAnotherOneTakes) {
  MessageBytes one = Connection(address_);
  MessageBytes other = Connection(address_);
  ASSERT_TRUE(one.Take(kOwn + kShared, Shared::kNotOfCalls));
  EXPECT_TRUE(other.Take(kOwn, Shared::kNotOfCalls));
  EXPECT_FALSE(other.Take(1, Shared::kNotOfCalls));
  EXPECT_EQ(other.bytes(), kOwn);
  // The shared bytes are the first to come back.
  one.GiveBack(4 * MessageBytes::kStep);
  EXPECT_TRUE(other.Take(1, Shared::kNotOfCalls));
  other.GiveBack(kOwn + 1);
  one.GiveBack(one.bytes());
  one.Leave();
  other.Leave();
  EXPECT_EQ(totals_.shared_message_bytes, 0U);
  EXPECT_EQ(totals_.message_bytes, 0U);
  EXPECT_EQ(address_->message_bytes, 0U);
}

TEST_F(MessageBytesTest, CallsHaveSharedBytesThatNoLongMessagesTake) {
  MessageBytes one = Connection(address_);
  MessageBytes other = Connection(address_);
  ASSERT_TRUE(one.Take(kOwn + kShared, Shared::kNotOfCalls));
  ASSERT_TRUE(other.Take(kOwn, Shared::kAll));
  EXPECT_FALSE(other.Take(1, Shared::kNotOfCalls));
  EXPECT_TRUE(other.Take(MessageBytes::kSharedOfCalls, Shared::kAll));
  EXPECT_FALSE(other.Take(1, Shared::kAll));
}

TEST_F(MessageBytesTest, WhatMayTakeFewSharedBytesGetsThemOnceForAllConnections) {
  MessageBytes one = Connection(address_);
  MessageBytes other = Connection(address_);
  ASSERT_TRUE(one.Take(kOwn + MessageBytes::kFewShared, Shared::kFew));
  EXPECT_FALSE(one.Take(1, Shared::kFew));
  ASSERT_TRUE(other.Take(kOwn, Shared::kFew));
  EXPECT_FALSE(other.Take(1, Shared::kFew));
  EXPECT_TRUE(other.Take(kLargest, Shared::kNotOfCalls));
}

TEST_F(MessageBytesTest, WhatHasComeMayExceedTheLimitsALittle) {
  MessageBytes bytes = Connection(address_);
  ASSERT_TRUE(bytes.Take(kOwn + kShared, Shared::kNotOfCalls));
  EXPECT_TRUE(bytes.Charge(MessageBytes::kSlack, Shared::kNotOfCalls));
  EXPECT_FALSE(bytes.Charge(1, Shared::kNotOfCalls));
}

TEST_F(MessageBytesTest, AnAddressLeavesHalfToOthersHoweverManyConnectionsItHas) {
  std::vector<MessageBytes> connections;
  connections.reserve(64);
  uint64_t taken = 0;
  for (int i = 0; i < 64; ++i) {
    connections.push_back(Connection(address_));
    if (connections.back().Take(kLargest, Shared::kNotOfCalls)) taken += kLargest;
    EXPECT_TRUE(i < 16 ||
                connections.back().Take(1000, Shared::kNotOfCalls));  // small ones always pass
  }
  EXPECT_LE(taken, MessageBytes::kMessagesOfAll * kLargest / 2);
  EXPECT_GE(taken, MessageBytes::kMessagesOfAll * kLargest / 2 - kLargest);
  MessageBytes honest = Connection(std::make_shared<ClientTotals>());
  EXPECT_TRUE(honest.Take(kOwn, Shared::kNotOfCalls));
}

TEST_F(MessageBytesTest, AfterLeavingItTakesNothingOfOthers) {
  MessageBytes bytes = Connection(address_);
  ASSERT_TRUE(bytes.Take(kOwn + 1, Shared::kNotOfCalls));
  bytes.Leave();
  bytes.Leave();
  bytes.GiveBack(kOwn + 1);
  EXPECT_TRUE(bytes.Take(kOwn, Shared::kNotOfCalls));
  EXPECT_FALSE(bytes.Take(1, Shared::kNotOfCalls));
  EXPECT_EQ(totals_.message_bytes, 0U);
  EXPECT_EQ(totals_.shared_message_bytes, 0U);
}

}  // namespace
}  // namespace millrace::server
