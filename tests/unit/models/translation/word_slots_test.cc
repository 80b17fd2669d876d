#include "models/translation/aten_seq2seq/word_slots.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <barrier>
#include <set>
#include <thread>
#include <vector>

namespace millrace::models {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(WordSlotsTest, GivesEachSlotToOneHolder) {
  WordSlots slots(10);
  EXPECT_EQ(slots.capacity(), 8u);
  const std::vector<int32_t> first = slots.Take(5);
  const std::vector<int32_t> second = slots.Take(3);
  std::set<int32_t> all(first.begin(), first.end());
  all.insert(second.begin(), second.end());
  EXPECT_THAT(all, SizeIs(8));
  EXPECT_FALSE(all.contains(WordSlots::kZeros));
  EXPECT_FALSE(all.contains(WordSlots::kWaste));
}

TEST(WordSlotsTest, GivesAllOrNothing) {
  WordSlots slots(10);
  const std::vector<int32_t> most = slots.Take(6);
  EXPECT_THAT(slots.Take(3), IsEmpty());
  EXPECT_EQ(slots.used(), 6u);
  slots.Give(most);
  EXPECT_THAT(slots.Take(8), SizeIs(8));
}

TEST(WordSlotsTest, ThreadsNeverHoldTheSameSlot) {
  constexpr int kThreads = 4;
  WordSlots slots(2 + kThreads * 3);
  std::vector<int> holders(2 + kThreads * 3);  // each written by its holder alone: TSan looks
  std::barrier start(kThreads);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      start.arrive_and_wait();
      for (int round = 0; round < 1000; ++round) {
        const std::vector<int32_t> taken = slots.Take(3);
        ASSERT_THAT(taken, SizeIs(3));
        for (const int32_t slot : taken) EXPECT_EQ(++holders[static_cast<size_t>(slot)], 1);
        for (const int32_t slot : taken) --holders[static_cast<size_t>(slot)];
        slots.Give(taken);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(slots.used(), 0u);
}

}  // namespace
}  // namespace millrace::models
