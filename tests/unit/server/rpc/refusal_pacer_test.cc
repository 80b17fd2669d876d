#include "server/rpc/refusal_pacer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>

namespace millrace::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr double kRate = 100;
constexpr Duration kPatient = std::chrono::hours(1);

class RefusalPacerTest : public ::testing::Test {
 protected:
  Duration Refuse(Duration left = kPatient, size_t caller = 0, size_t held = 0) {
    return pacer_.Delay(now_, left, caller, held);
  }

  RefusalPacer pacer_{kRate};
  TimePoint now_{std::chrono::hours(1)};
};

TEST_F(RefusalPacerTest, RefusalsWithinTheRateGoOutAtOnce) {
  for (int i = 0; i < 10'000; ++i) {
    ASSERT_EQ(Refuse(), Duration::zero()) << i;
    now_ += milliseconds(10);
  }
}

TEST_F(RefusalPacerTest, BurstGoesOutAtOnce) {
  for (int i = 0; i < 50; ++i) ASSERT_EQ(Refuse(), Duration::zero()) << i;
  now_ += seconds(1);
  for (int i = 0; i < 50; ++i) ASSERT_EQ(Refuse(), Duration::zero()) << i;
}

TEST_F(RefusalPacerTest, LoopsThatCallAgainAtOnceAreSlowedDownToTheRate) {
  constexpr int kCallers = 40;
  std::array<TimePoint, kCallers> next;
  next.fill(now_);
  int refusals = 0;
  const TimePoint end = now_ + seconds(60);
  while (now_ < end) {
    for (TimePoint& caller : next) {
      if (caller > now_) continue;
      caller = now_ + Refuse() + milliseconds(1);
      ++refusals;
    }
    now_ += milliseconds(1);
  }
  EXPECT_NEAR(refusals, kRate * 60, kRate * 3);
}

TEST_F(RefusalPacerTest, NoneIsHeldBackForLongerThanTheLimit) {
  for (int i = 0; i < 10'000; ++i) ASSERT_LE(Refuse(), RefusalPacer::kLongest);
  EXPECT_GT(Refuse(), RefusalPacer::kLongest - RefusalPacer::kTick);
}

TEST_F(RefusalPacerTest, WhereManyWaitNoneIsHeldBackForLong) {
  for (int i = 0; i < 10'000; ++i) Refuse();
  for (int i = 0; i < 10'000; ++i)
    ASSERT_LE(Refuse(kPatient, 0, RefusalPacer::kMostHeld), RefusalPacer::kLongestOfMany);
  EXPECT_GT(Refuse(kPatient, 0, RefusalPacer::kMostHeld),
            RefusalPacer::kLongestOfMany - RefusalPacer::kTick);
  EXPECT_GT(Refuse(), RefusalPacer::kLongest - RefusalPacer::kTick);
}

TEST_F(RefusalPacerTest, CallerThatIsRefusedNowAndThenIsAnsweredAtOnceBesideAFlood) {
  for (int tick = 0; tick < 100; ++tick) {
    for (int i = 0; i < 100; ++i) Refuse();
    ASSERT_EQ(Refuse(kPatient, 1), Duration::zero()) << tick;
    now_ += milliseconds(100);
  }
}

TEST_F(RefusalPacerTest, CallersThatExceedTheRateTogetherHaveEqualPartsOfIt) {
  constexpr int kCallers = 4;
  std::array<TimePoint, kCallers> next;
  next.fill(now_);
  std::array<int, kCallers> refusals{};
  const TimePoint end = now_ + seconds(60);
  while (now_ < end) {
    for (size_t caller = 0; caller < kCallers; ++caller) {
      if (next[caller] > now_) continue;
      next[caller] = now_ + Refuse(kPatient, caller) + milliseconds(1);
      ++refusals[caller];
    }
    now_ += milliseconds(1);
  }
  for (const int count : refusals)
    EXPECT_NEAR(count, kRate * 60 / kCallers, kRate * 60 / kCallers * 0.1);
}

TEST_F(RefusalPacerTest, StormIsForgottenSoon) {
  for (int i = 0; i < 10'000; ++i) Refuse();
  now_ += RefusalPacer::kLongest + RefusalPacer::kBurst;
  EXPECT_EQ(Refuse(), Duration::zero());
}

TEST_F(RefusalPacerTest, AnswerArrivesWellBeforeTheDeadline) {
  for (int i = 0; i < 10'000; ++i) Refuse();
  for (const Duration left : {Duration(milliseconds(-5)), Duration(0), Duration(milliseconds(3)),
                              Duration(milliseconds(30)), Duration(milliseconds(700))}) {
    EXPECT_LE(Refuse(left), std::max(left / 2, Duration::zero()));
  }
  EXPECT_GE(Refuse(milliseconds(700)), milliseconds(350) - RefusalPacer::kTick);
}

TEST_F(RefusalPacerTest, CallsWithoutADeadlineAreHeldBackToo) {
  for (int i = 0; i < 10'000; ++i) ASSERT_LE(Refuse(Duration::max()), RefusalPacer::kLongest);
  EXPECT_GT(Refuse(Duration::max()), Duration::zero());
}

TEST_F(RefusalPacerTest, AnswersOfATickGoOutTogether) {
  for (int i = 0; i < 100; ++i) Refuse();
  for (int i = 0; i < 50; ++i)
    EXPECT_EQ((now_ + Refuse()).time_since_epoch() % RefusalPacer::kTick, Duration::zero());
}

TEST(RefusalPacerOffTest, WithoutARateNothingIsHeldBack) {
  RefusalPacer pacer(0);
  const TimePoint now(std::chrono::hours(1));
  for (int i = 0; i < 10'000; ++i) ASSERT_EQ(pacer.Delay(now, kPatient), Duration::zero());
}

}  // namespace
}  // namespace millrace::server
