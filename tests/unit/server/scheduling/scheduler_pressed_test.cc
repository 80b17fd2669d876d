#include <chrono>
#include <memory>
#include <utility>

#include "server/scheduling/scheduler.h"
#include "tests/unit/server/scheduling/fixture.h"

namespace millrace::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using testing::FakeReply;

// The order where not everybody would be in time by turns. One worker, a second for a unit of
// work, steps of a tenth.
class SchedulerPressedTest : public SchedulingTest {
 protected:
  SchedulerPressedTest() {
    for (int i = 0; i < 100; ++i) {
      scheduler_.ReportStep(model_->queue(), {.jobs = 1, .took = milliseconds(100), .work = 0.1});
    }
  }

  std::unique_ptr<Job> MakeLong(Reply& reply, double work, Duration left) {
    std::unique_ptr<Job> job = MakeJob(model_, reply, clock_.Now() + left);
    job->request.EstimateWorkLeft(work);
    return job;
  }
  void Start(Reply& reply, double work, Duration left) {
    std::unique_ptr<Job> job = MakeLong(reply, work, left);
    job->service = milliseconds(100);
    scheduler_.Requeue(std::move(job));
  }

  const std::shared_ptr<ServedModel> model_ = MakeModel("m");
  FakeReply a_, b_, c_;
};

TEST_F(SchedulerPressedTest, ByTurnsWhileThereIsTime) {
  Start(a_, 4, seconds(100));
  clock_.Advance(milliseconds(1));
  Start(b_, 4, seconds(20));
  EXPECT_THAT(Pop(), ElementsAre(&a_));
}

TEST_F(SchedulerPressedTest, WhoseDeadlineIsFirstGoesFirst) {
  Start(a_, 4, seconds(100));
  clock_.Advance(milliseconds(1));
  Start(b_, 4, seconds(6));
  clock_.Advance(milliseconds(1));
  Start(c_, 1, seconds(5));
  EXPECT_THAT(Pop(), ElementsAre(&c_));
  EXPECT_THAT(Pop(), ElementsAre(&b_));
}

TEST_F(SchedulerPressedTest, RequestThatHasNotBegunMayGoFirst) {
  Start(a_, 4, seconds(100));
  clock_.Advance(milliseconds(1));
  scheduler_.Enter(MakeLong(b_, 4, seconds(5)));
  EXPECT_THAT(Pop(), ElementsAre(&b_));
}

TEST_F(SchedulerPressedTest, TheLongestIsGivenUpWhereNotAllCanBeInTime) {
  Start(a_, 5, seconds(5));
  Start(b_, 3, seconds(6));
  Start(c_, 2, seconds(6));
  EXPECT_THAT(Pop(), ElementsAre(&c_));
  EXPECT_THAT(Pop(), ElementsAre(&b_));
  EXPECT_THAT(Pop(), ElementsAre(&a_));  // with nothing else to do
}

TEST_F(SchedulerPressedTest, EveryFourthTurnIsOfMuchShorterOnes) {
  Start(a_, 40, seconds(41));
  FakeReply brief[2];
  for (FakeReply& reply : brief) scheduler_.Enter(MakeLong(reply, 0.1, seconds(100)));
  for (FakeReply& reply : brief) {
    for (int turn = 0; turn < 3; ++turn) {
      EXPECT_THAT(Pop(), ElementsAre(&a_));
      scheduler_.Requeue(std::move(popped_.batch.front()));
    }
    EXPECT_THAT(Pop(), ElementsAre(&reply));
  }
}

// A batch that is full by its work is not slowed by newcomers, however many places it has.
TEST_F(SchedulerPressedTest, ContinuousBatchThatIsFullTakesNobodyIn) {
  const auto model = MakeModel("batches", {.max_batch = 8, .continuous = true, .full_work = 4});
  scheduler_.ReportStep(model->queue(), {.jobs = 1, .took = milliseconds(100), .work = 0.1});
  const auto make = [&](Reply& reply, Duration left) {
    std::unique_ptr<Job> job = MakeJob(model, reply, clock_.Now() + left);
    job->request.EstimateWorkLeft(2.5);
    return job;
  };
  FakeReply replies[4];
  scheduler_.Requeue(make(replies[0], milliseconds(3500)));
  for (int i = 1; i < 4; ++i) scheduler_.Enter(make(replies[i], seconds(20)));
  EXPECT_THAT(Pop(), ElementsAre(&replies[0], &replies[1]));
}

// They came before the pace was known.
TEST_F(SchedulerPressedTest, WhatWasLetInAndCannotBeDoneIsRefusedBeforeItBegins) {
  const auto model = MakeModel("new");
  FakeReply replies[10];
  for (FakeReply& reply : replies)
    ASSERT_TRUE(Submit(model, reply, clock_.Now() + milliseconds(5200)).ok());
  EXPECT_THAT(Pop(), ElementsAre(&replies[0]));
  for (int i = 0; i < 6; ++i)
    scheduler_.ReportStep(model->queue(), {.jobs = 1, .took = milliseconds(500), .work = 0.5});
  Pop();
  // There are 4.2 seconds but for the reserve of two steps, and nine were waiting.
  EXPECT_EQ(popped_.dropped.size(), 5U);
  EXPECT_EQ(&popped_.dropped.front()->reply, &replies[9]);
  ASSERT_TRUE(popped_.dropped.front()->request.outcome());
  EXPECT_EQ(popped_.dropped.front()->request.outcome()->code(),
            absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace millrace::server
