#include "models/seq2seq/aten/kv_slot_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace millrace::seq2seq {
namespace {

using ::testing::ElementsAre;
using ::testing::WhenSorted;
using Parents = std::vector<int32_t>;

std::vector<int32_t> PathOf(const KvSlotTable& slots, size_t hypothesis) {
  const auto path = slots.path(hypothesis);
  return {path.begin(), path.end()};
}

TEST(KvSlotTableTest, HypothesesShareTheSlotsOfTheirBeginning) {
  KvSlotTable slots({10, 11, 12, 13});
  slots.Extend();
  const std::vector<int32_t> beginning = PathOf(slots, 0);
  slots.Follow(Parents{0, 0});
  slots.Extend();
  ASSERT_EQ(slots.hypotheses(), 2u);
  EXPECT_EQ(slots.path(0).front(), beginning.front());
  EXPECT_EQ(slots.path(1).front(), beginning.front());
  EXPECT_NE(slots.path(0).back(), slots.path(1).back());
}

TEST(KvSlotTableTest, TwoTokensNeverHaveOneSlot) {
  KvSlotTable slots({10, 11, 12, 13, 14, 15}, 2);
  slots.Extend();
  slots.Follow(Parents{1, 1});
  const std::vector<int32_t> kept = PathOf(slots, 0);
  EXPECT_EQ(PathOf(slots, 1), kept);
  slots.Extend();
  slots.Follow(Parents{0, 1});
  slots.Extend();
  std::vector<int32_t> used = kept;
  for (size_t i = 0; i < 2; ++i) {
    const auto path = slots.path(i);
    ASSERT_EQ(path.size(), 3u);
    used.insert(used.end(), path.begin() + 1, path.end());
  }
  EXPECT_THAT(used, WhenSorted(ElementsAre(11, 12, 13, 14, 15)));
}

}  // namespace
}  // namespace millrace::seq2seq
