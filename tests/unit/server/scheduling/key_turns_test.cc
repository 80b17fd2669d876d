#include "server/scheduling/key_turns.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

namespace millrace::server {
namespace {

constexpr FairShare kAnn{.key = 1};
constexpr FairShare kBob{.key = 2};

// One worker, and keys that always have a job that waits.
class KeyTurnsTest : public ::testing::Test {
 protected:
  void AlwaysWaits(const FairShare& share) {
    turns_.Add(share, /*begun=*/false, 1);
    waiting_.push_back(share);
  }
  // Runs a step of the key whose turn it is, and returns its number.
  size_t Serve(double seconds) {
    turns_.Advance();
    const FairShare next = *std::ranges::min_element(
        waiting_, {}, [this](const FairShare& share) { return turns_.Turn(share); });
    turns_.Remove(next, /*begun=*/false, 1);
    const double charged = turns_.Start(next, 1);
    turns_.Charge(next, seconds, charged);
    turns_.Stop(next, 1);
    turns_.Add(next, /*begun=*/false, 1);
    served_[next.key] += seconds;
    return next.key;
  }
  // Serves the keys until one of this number is next; returns the seconds that the others had.
  double SecondsUntil(size_t key, double step) {
    double seconds = 0;
    for (int i = 0; i < 1000; ++i) {
      if (Serve(step) == key) return seconds;
      seconds += step;
    }
    return seconds;
  }

  KeyTurns turns_;
  std::vector<FairShare> waiting_;
  std::array<double, 4> served_{};
};

TEST_F(KeyTurnsTest, EqualKeysHaveEqualTime) {
  AlwaysWaits(kAnn);
  AlwaysWaits(kBob);
  for (int i = 0; i < 100; ++i) Serve(0.1);
  EXPECT_NEAR(served_[1], 5, 0.2);
  EXPECT_NEAR(served_[2], 5, 0.2);
}

// A key whose jobs take longer gets fewer of them.
TEST_F(KeyTurnsTest, SharesAreOfTimeNotOfJobs) {
  AlwaysWaits(kAnn);
  AlwaysWaits(kBob);
  for (int i = 0; i < 400; ++i) {
    turns_.Advance();
    Serve(turns_.Turn(kAnn) <= turns_.Turn(kBob) ? 0.3 : 0.1);
  }
  EXPECT_NEAR(served_[1] / served_[2], 1, 0.05);
}

TEST_F(KeyTurnsTest, TimeIsSharedByWeight) {
  AlwaysWaits({.key = 1, .weight = 3});
  AlwaysWaits(kBob);
  for (int i = 0; i < 400; ++i) Serve(0.1);
  EXPECT_NEAR(served_[1] / served_[2], 3, 0.1);
}

TEST_F(KeyTurnsTest, IdleKeySavesNoTimeUp) {
  AlwaysWaits(kAnn);
  for (int i = 0; i < 100; ++i) Serve(0.1);
  AlwaysWaits(kBob);
  served_ = {};
  for (int i = 0; i < 20; ++i) Serve(0.1);
  EXPECT_NEAR(served_[1], 1, 0.11);
  EXPECT_NEAR(served_[2], 1, 0.11);
}

TEST_F(KeyTurnsTest, KeyThatComesBackPaysWhatItOwes) {
  AlwaysWaits(kAnn);
  AlwaysWaits(kBob);
  while (Serve(0.1) != 1) {
  }
  // One long step, whose length nobody foresaw, and Ann leaves.
  turns_.Remove(kAnn, /*begun=*/false, 1);
  turns_.Charge(kAnn, 2, 0);
  turns_.Add(kAnn, /*begun=*/false, 1);
  EXPECT_NEAR(SecondsUntil(1, 0.1), 2, 0.3);
}

// Nobody can be kept waiting: the head start is all that a higher priority gains.
TEST_F(KeyTurnsTest, PriorityIsAHeadStartAndNoLargerShare) {
  AlwaysWaits({.key = 1, .weight = 1, .priority = Priority::kHigh});
  AlwaysWaits({.key = 2, .weight = 1, .priority = Priority::kLow});
  EXPECT_NEAR(SecondsUntil(2, 0.1), 2 * KeyTurns::kHeadStart, 0.15);
  served_ = {};
  for (int i = 0; i < 200; ++i) Serve(0.1);
  EXPECT_NEAR(served_[1] / served_[2], 1, 0.05);
}

TEST_F(KeyTurnsTest, HigherPriorityGoesFirstAfterAPause) {
  const FairShare high{.key = 1, .weight = 1, .priority = Priority::kHigh};
  AlwaysWaits(kBob);
  for (int i = 0; i < 10; ++i) Serve(0.1);
  AlwaysWaits({.key = 3});
  AlwaysWaits(high);
  EXPECT_EQ(Serve(0.1), 1U);
}

TEST_F(KeyTurnsTest, KnowsTheKeyWithMoreThanItsShareOfTheWork) {
  for (int i = 0; i < 9; ++i) turns_.Add(kAnn, /*begun=*/false, 1);
  EXPECT_EQ(turns_.PartBefore(kAnn), 1);  // alone
  turns_.Add(kBob, /*begun=*/false, 1);
  EXPECT_EQ(turns_.PartBefore(kAnn), 1);
  EXPECT_NEAR(turns_.PartBefore(kBob), 0.2, 1e-9);  // 1 of 10, of which every second is Bob's
  EXPECT_EQ(turns_.PartBefore({.key = 3}), 0);
  EXPECT_EQ(turns_.PartBefore({}), 1);
}

TEST_F(KeyTurnsTest, PlaceIsTakenFromTheKeyThatHasTheMostForItsWeight) {
  for (int i = 0; i < 9; ++i) turns_.Add({.key = 1, .weight = 3}, /*begun=*/false, 1);
  for (int i = 0; i < 5; ++i) turns_.Add(kBob, /*begun=*/false, 1);
  EXPECT_EQ(turns_.KeyToDisplace({.key = 3}), 2U);
  EXPECT_EQ(turns_.KeyToDisplace({.key = 1, .weight = 3}), 2U);  // it would have 10 / 3
  EXPECT_EQ(turns_.KeyToDisplace(kBob), 0U);
  EXPECT_EQ(turns_.KeyToDisplace({}), 0U);
}

}  // namespace
}  // namespace millrace::server
