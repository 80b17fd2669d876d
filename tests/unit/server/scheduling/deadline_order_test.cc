#include "server/scheduling/deadline_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <vector>

namespace millrace::server {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr TimePoint kMoment = TimePoint(std::chrono::hours(1));

DueWork Due(int in_seconds, double work) { return {kMoment + seconds(in_seconds), work}; }

// A unit of work takes a worker a second.
std::vector<size_t> GivenUp(std::vector<DueWork> order, int workers = 1) {
  return GiveUpLongest(order, {.now = kMoment,
                               .at_once = static_cast<size_t>(workers),
                               .seconds_together = [&](double work) { return work / workers; },
                               .seconds_alone = [](double work) { return work; }});
}

TEST(DeadlineOrderTest, NothingIsGivenUpWhileAllIsInTime) {
  EXPECT_THAT(GivenUp({}), IsEmpty());
  EXPECT_THAT(GivenUp({Due(2, 2), Due(5, 3), Due(6, 1)}), IsEmpty());
}

TEST(DeadlineOrderTest, TheLongestSoFarIsGivenUpForTheOthers) {
  EXPECT_THAT(GivenUp({Due(4, 1), Due(8, 6), Due(9, 3), Due(10, 5)}), ElementsAre(1));
  EXPECT_THAT(GivenUp({Due(4, 1), Due(8, 6), Due(9, 3), Due(10, 7)}), ElementsAre(1, 3));
}

TEST(DeadlineOrderTest, WhatIsLateByItselfIsGivenUp) {
  EXPECT_THAT(GivenUp({Due(1, 1), Due(2, 5), Due(3, 2)}), ElementsAre(1));
}

TEST(DeadlineOrderTest, WhatIsServedAtOnceDoesNotWait) {
  EXPECT_THAT(GivenUp({Due(5, 5), Due(5, 5)}, 2), IsEmpty());
  EXPECT_THAT(GivenUp({Due(5, 5), Due(5, 5), Due(5, 1)}, 2), ElementsAre(1));
}

TEST(DeadlineOrderTest, WorkWithoutADeadlineIsNeverGivenUp) {
  EXPECT_THAT(GivenUp({Due(3, 2), {TimePoint::max(), 1e12}, {TimePoint::max(), 1}}), IsEmpty());
}

}  // namespace
}  // namespace millrace::server
