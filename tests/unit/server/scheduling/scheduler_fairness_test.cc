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

// The order among the requests of a model, and among the models.
class SchedulerFairnessTest : public SchedulingTest {
 protected:
  // A job that came a while ago and has had so much service.
  void Requeue(const std::shared_ptr<ServedModel>& model, Reply& reply, Duration service) {
    std::unique_ptr<Job> job = MakeJob(model, reply);
    job->service = service;
    scheduler_.Requeue(std::move(job));
  }
  // Takes the next batch and reports that it took so long.
  const Reply* Serve(Duration took) {
    EXPECT_TRUE(scheduler_.PopBatch(popped_));
    EXPECT_EQ(popped_.batch.size(), 1U);
    scheduler_.ReportStep(popped_.batch.front()->model->queue(), {.jobs = 1, .took = took});
    return &popped_.batch.front()->reply;
  }

  FakeReply long_, short_, started_, fresh_;
};

// One worker that takes one job at a time.
constexpr size_t kLimit = ModelQueue::kUnderWayPerPlace;

TEST_F(SchedulerFairnessTest, NewcomerGoesBeforeARequestThatCameBackLater) {
  const auto model = MakeModel("m");
  ASSERT_TRUE(Submit(model, short_).ok());
  clock_.Advance(milliseconds(1));
  Requeue(model, started_, milliseconds(100));
  EXPECT_THAT(Pop(), ElementsAre(&short_));
  EXPECT_THAT(Pop(), ElementsAre(&started_));
}

TEST_F(SchedulerFairnessTest, NoneBeginsWhileTheLimitIsUnderWay) {
  const auto model = MakeModel("m");
  FakeReply started[kLimit];
  ASSERT_TRUE(Submit(model, fresh_).ok());
  clock_.Advance(milliseconds(1));
  for (FakeReply& reply : started) Requeue(model, reply, milliseconds(100));
  // The one that runs is under way, too.
  EXPECT_EQ(Serve(milliseconds(10)), &started[0]);
  EXPECT_EQ(Serve(milliseconds(10)), &fresh_);  // one has ended
  EXPECT_EQ(Serve(milliseconds(10)), &started[1]);
}

TEST_F(SchedulerFairnessTest, WithContinuousBatchesANewcomerWaitsForAPlace) {
  const auto model = MakeModel("m", {.max_batch = 2, .continuous = true});
  FakeReply started[2];
  ASSERT_TRUE(Submit(model, fresh_).ok());
  clock_.Advance(milliseconds(1));
  for (FakeReply& reply : started) Requeue(model, reply, milliseconds(100));
  EXPECT_THAT(Pop(), ElementsAre(&started[0], &started[1]));
  scheduler_.ReportStep(model->queue(), {.jobs = 2, .took = milliseconds(10)});
  scheduler_.Requeue(std::move(popped_.batch.front()));
  EXPECT_THAT(Pop(), ElementsAre(&fresh_, &started[0]));
}

TEST_F(SchedulerFairnessTest, WithContinuousBatchesLongRequestsAreBoundedToo) {
  const auto model = MakeModel("m", {.max_batch = 2, .continuous = true});
  ASSERT_TRUE(Submit(model, fresh_).ok());
  clock_.Advance(milliseconds(1));
  for (int i = 0; i < 3; ++i) Requeue(model, long_, ModelQueue::kLong);
  EXPECT_THAT(Pop(), ElementsAre(&fresh_, &long_));
  scheduler_.ReportStep(model->queue(), {.jobs = 2, .took = milliseconds(1)});
  ASSERT_TRUE(Submit(model, short_).ok());
  clock_.Advance(milliseconds(1));
  for (int i = 0; i < 2; ++i) Requeue(model, long_, ModelQueue::kLong);
  EXPECT_THAT(Pop(), ElementsAre(&long_, &long_));  // four are under way
}

TEST_F(SchedulerFairnessTest, WhatAnotherModelBeganWaitsForItsTurn) {
  const auto model = MakeModel("m");
  ASSERT_TRUE(Submit(model, fresh_).ok());
  clock_.Advance(milliseconds(1));
  scheduler_.Enter(MakeJob(model, started_));
  EXPECT_THAT(Pop(), ElementsAre(&fresh_));
  EXPECT_THAT(Pop(), ElementsAre(&started_));
}

TEST_F(SchedulerFairnessTest, RequestThatRunsKeepsAnotherFromBeginning) {
  const auto model = MakeModel("m");
  FakeReply started[kLimit];
  ASSERT_TRUE(Submit(model, fresh_).ok());
  clock_.Advance(milliseconds(1));
  for (FakeReply& reply : started) Requeue(model, reply, milliseconds(100));
  EXPECT_THAT(Pop(), ElementsAre(&started[0]));
  EXPECT_THAT(Pop(), ElementsAre(&started[1]));
}

TEST_F(SchedulerFairnessTest, LongRequestsNeverKeepAShortOneFromBeginning) {
  const auto model = MakeModel("m");
  ASSERT_TRUE(Submit(model, short_).ok());
  clock_.Advance(milliseconds(1));
  for (size_t i = 0; i < 10 * kLimit; ++i) Requeue(model, long_, ModelQueue::kLong);
  EXPECT_THAT(Pop(), ElementsAre(&short_));
}

TEST_F(SchedulerFairnessTest, WhatLeavesTheQueueIsNoLongerUnderWay) {
  const auto model = MakeModel("m");
  FakeReply started[kLimit];
  ASSERT_TRUE(Submit(model, fresh_).ok());
  clock_.Advance(milliseconds(1));
  for (size_t i = 1; i < kLimit; ++i) Requeue(model, started[i], milliseconds(100));
  std::unique_ptr<Job> expires = MakeJob(model, started[0], clock_.Now() + milliseconds(1));
  scheduler_.Requeue(std::move(expires));
  clock_.Advance(milliseconds(1));
  EXPECT_EQ(scheduler_.TakeExpired().size(), 1U);
  ASSERT_TRUE(Submit(model, short_).ok());
  EXPECT_THAT(Pop(), ElementsAre(&fresh_));

  EXPECT_THAT(Pop(), ElementsAre(&started[1]));
  EXPECT_NE(scheduler_.Remove(model->queue(), started[2]), nullptr);
  EXPECT_NE(scheduler_.Remove(model->queue(), started[3]), nullptr);
  EXPECT_THAT(Pop(), ElementsAre(&short_));
}

TEST_F(SchedulerFairnessTest, MuchShorterRequestNeedNotWaitForOthersToEnd) {
  const auto model = MakeModel("m");
  FakeReply started[kLimit], longer;
  for (FakeReply& reply : started) {
    std::unique_ptr<Job> job = MakeJob(model, reply);
    job->request.EstimateWorkLeft(20);
    scheduler_.Requeue(std::move(job));
  }
  std::unique_ptr<Job> job = MakeJob(model, longer);
  job->request.EstimateWorkLeft(3);
  ASSERT_TRUE(scheduler_.Submit(job).ok());
  ASSERT_TRUE(Submit(model, short_).ok());  // an eighth of the others, at most
  clock_.Advance(milliseconds(1));
  for (size_t i = 0; i < kLimit; ++i) {
    EXPECT_THAT(Pop(), ElementsAre(&started[i]));
    scheduler_.Requeue(std::move(popped_.batch.front()));
    scheduler_.ReportStep(model->queue(), {.jobs = 1, .took = milliseconds(1)});
  }
  EXPECT_THAT(Pop(), ElementsAre(&short_));
  EXPECT_THAT(Pop(), ElementsAre(&started[0]));  // the longer one waits for an end
}

TEST_F(SchedulerFairnessTest, FloodOnOneModelLeavesAnotherItsShare) {
  const auto flooded = MakeModel("flooded");
  const auto other = MakeModel("other");
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(Submit(flooded, long_).ok());
  for (int i = 0; i < 10; ++i) Serve(milliseconds(100));
  clock_.Advance(seconds(1));
  for (int i = 0; i < 8; ++i) ASSERT_TRUE(Submit(other, short_).ok());
  // Steps of the other model take a quarter of the time: four of them for each of the flood.
  int others = 0;
  for (int i = 0; i < 10; ++i) {
    scheduler_.PopBatch(popped_);
    const auto& model = popped_.batch.front()->model;
    others += model == other ? 1 : 0;
    scheduler_.ReportStep(model->queue(),
                          {.jobs = 1, .took = milliseconds(model == other ? 25 : 100)});
  }
  EXPECT_EQ(others, 8);
}

TEST_F(SchedulerFairnessTest, ModelThatWasIdleHasNoClaimToTheTimeItDidNotUse) {
  const auto busy = MakeModel("busy");
  const auto idle = MakeModel("idle");
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(Submit(busy, long_).ok());
  for (int i = 0; i < 10; ++i) Serve(seconds(1));
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(Submit(idle, short_).ok());
  int idles = 0;
  for (int i = 0; i < 10; ++i) idles += Serve(seconds(1)) == &short_ ? 1 : 0;
  EXPECT_GE(idles, 5);
  EXPECT_LE(idles, 6);
}

}  // namespace
}  // namespace millrace::server
