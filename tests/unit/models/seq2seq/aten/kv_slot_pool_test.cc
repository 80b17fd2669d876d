#include "models/seq2seq/aten/kv_slot_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "tests/fakes/at_once.h"

namespace millrace::seq2seq {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(KvSlotPoolTest, GivesEachSlotToOneHolder) {
  KvSlotPool slots(10);
  EXPECT_EQ(slots.capacity(), 8u);
  const std::vector<int32_t> first = slots.Take(5, &slots);
  const std::vector<int32_t> second = slots.Take(3, &slots);
  std::set<int32_t> all(first.begin(), first.end());
  all.insert(second.begin(), second.end());
  EXPECT_THAT(all, SizeIs(8));
  EXPECT_FALSE(all.contains(KvSlotPool::kZeros));
  EXPECT_FALSE(all.contains(KvSlotPool::kWaste));
}

TEST(KvSlotPoolTest, GivesAllOrNothing) {
  KvSlotPool slots(10);
  const std::vector<int32_t> most = slots.Take(6, &slots);
  EXPECT_THAT(slots.Take(3, &slots), IsEmpty());
  EXPECT_EQ(slots.used(), 6u);
  slots.Give(most);
  EXPECT_THAT(slots.Take(8, &slots), SizeIs(8));
}

TEST(KvSlotPoolTest, ASentenceThatFoundTooFewKeepsItsTurn) {
  KvSlotPool slots(12);
  const int wide = 0;
  const int narrow = 0;
  const std::vector<int32_t> first = slots.Take(4, &narrow);
  const std::vector<int32_t> second = slots.Take(2, &narrow);
  EXPECT_THAT(slots.Take(7, &wide), IsEmpty());
  EXPECT_THAT(slots.Take(1, &narrow), IsEmpty());
  slots.Give(first);
  EXPECT_THAT(slots.Take(1, &narrow), SizeIs(1)) << "there is room for both";
  EXPECT_THAT(slots.Take(1, &narrow), IsEmpty());
  EXPECT_THAT(slots.Take(7, &wide), SizeIs(7));
  slots.Give(second);
  EXPECT_THAT(slots.Take(2, &narrow), SizeIs(2));
}

TEST(KvSlotPoolTest, ASentenceThatDoesNotComeBackIsForgotten) {
  KvSlotPool slots(12);
  const int wide = 0;
  const int narrow = 0;
  const std::vector<int32_t> taken = slots.Take(6, &narrow);
  EXPECT_THAT(slots.Take(10, &wide), IsEmpty());
  for (size_t i = 0; i < KvSlotPool::kPatience; ++i) ASSERT_THAT(slots.Take(1, &narrow), IsEmpty());
  EXPECT_THAT(slots.Take(1, &narrow), SizeIs(1));
}

TEST(KvSlotPoolTest, ThreadsNeverHoldTheSameSlot) {
  constexpr int kThreads = 4;
  KvSlotPool slots(2 + kThreads * 3);
  std::vector<int> holders(2 + kThreads * 3);  // each written by its holder alone: TSan looks
  testing::AtOnce(kThreads, [&] {
    for (int round = 0; round < 1000; ++round) {
      const std::vector<int32_t> taken = slots.Take(3, &slots);
      ASSERT_THAT(taken, SizeIs(3));
      for (const int32_t slot : taken) EXPECT_EQ(++holders[static_cast<size_t>(slot)], 1);
      for (const int32_t slot : taken) --holders[static_cast<size_t>(slot)];
      slots.Give(taken);
    }
  });
  EXPECT_EQ(slots.used(), 0u);
}

}  // namespace
}  // namespace millrace::seq2seq
