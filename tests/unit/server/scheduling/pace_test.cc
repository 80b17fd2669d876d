#include "server/scheduling/pace.h"

#include <gtest/gtest.h>

namespace millrace::server {
namespace {

using std::chrono::seconds;

TEST(PaceTest, IsUnknownUntilWorkWasDone) {
  Pace pace;
  EXPECT_EQ(pace.seconds(), 0);
  pace.Report(seconds(1), 1, 0);
  EXPECT_FALSE(pace.known());
  pace.Report(seconds(1), 1, 4);
  EXPECT_TRUE(pace.known());
  EXPECT_NEAR(pace.seconds(), 0.5, 0.01);  // the first step was part of it
}

TEST(PaceTest, RequestsOfAStepShareTheWorkersTimeAndEachSpendsAllOfIt) {
  Pace pace;
  pace.Report(seconds(2), 8, 40);
  EXPECT_DOUBLE_EQ(pace.seconds(), 0.05);
  EXPECT_DOUBLE_EQ(pace.seconds_in_steps(), 0.4);
  EXPECT_DOUBLE_EQ(pace.seconds_per_step(), 2);
}

TEST(PaceTest, OneStepThatIsTenTimesAsSlowMovesItByLessThanAThird) {
  Pace pace;
  for (int i = 0; i < 1000; ++i) pace.Report(seconds(1), 1, 1);
  pace.Report(seconds(10), 1, 1);
  EXPECT_LT(pace.seconds(), 1.3);
  for (int i = 0; i < 200; ++i) pace.Report(seconds(2), 1, 1);
  EXPECT_NEAR(pace.seconds(), 2, 0.05);
}

TEST(CorrectionTest, FollowsWhatRequestsProveToBe) {
  Correction correction;
  EXPECT_EQ(correction.factor(), 1);
  for (int i = 0; i < 200; ++i) correction.Report(100, 250);
  EXPECT_NEAR(correction.factor(), 2.5, 0.01);
  correction.Report(0, 100);
  EXPECT_NEAR(correction.factor(), 2.5, 0.01);
  for (int i = 0; i < 200; ++i) correction.Report(100, 100);
  EXPECT_NEAR(correction.factor(), 1, 0.01);
}

TEST(RecentUseTest, IsKnownSoonAfterItBegins) {
  RecentUse use;
  TimePoint now{std::chrono::hours(1)};
  for (int i = 0; i < 30; ++i) {
    now += std::chrono::milliseconds(10);
    use.Add(now, std::chrono::milliseconds(10));
  }
  EXPECT_NEAR(use.workers(now), 1, 0.02);
}

TEST(RecentUseTest, IsInWorkersAndFades) {
  RecentUse use;
  TimePoint now{std::chrono::hours(1)};
  EXPECT_EQ(use.workers(now), 0);
  for (int i = 0; i < 1000; ++i) {
    now += std::chrono::milliseconds(10);
    use.Add(now, std::chrono::milliseconds(15));
  }
  EXPECT_NEAR(use.workers(now), 1.5, 0.02);
  EXPECT_NEAR(use.workers(now + seconds(2)), 1.5 / 2.718, 0.02);
  EXPECT_EQ(use.workers(now + seconds(60)), 0);
}

}  // namespace
}  // namespace millrace::server
