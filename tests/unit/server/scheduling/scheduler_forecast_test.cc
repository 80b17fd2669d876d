#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "tests/unit/server/scheduling/step_fixture.h"

namespace millrace::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::FakeReply;

// What the scheduler learns from how its forecasts came true, and what it then lets in. One worker,
// one job a step: kUnderWayPerPlace are under way, whoever comes then waits for ends.
class SchedulerForecast : public StepTest {
 protected:
  static constexpr int kLimit = Scheduler::kUnderWayPerPlace;

  SchedulerForecast() {
    ReportPace();
    Fill();
  }

  void ReportPace() {
    scheduler_.ReportStep(
        model_->queue(),
        {.jobs = 1, .took = seconds(1), .finished = 1, .finished_work = seconds(1)});
  }

  void Fill() {
    for (int i = 0; i <= kLimit; ++i) EXPECT_TRUE(Submit(model_, waiting_).ok());
  }
  // Somebody comes behind the others: five steps of a second, then its own.
  void Come(Reply& reply, Duration left = seconds(1000)) {
    EXPECT_TRUE(Submit(model_, reply, clock_.Now() + left).ok());
  }
  // Its last step ends so long after it came. That step keeps the pace at a second.
  void Run(Reply& reply, Duration after) {
    auto job = scheduler_.Remove(model_->queue(), reply);
    ASSERT_NE(job, nullptr);
    clock_.Advance(job->admitted + after - seconds(1) - clock_.Now());
    RunNow(std::move(job));
  }
  void RunNow(std::unique_ptr<Job> job) {
    job->enqueued = clock_.Now();
    std::vector<std::unique_ptr<Job>> batch;
    batch.push_back(std::move(job));
    StepTest::Run(std::move(batch));
  }
  // So many come and end after so long.
  void Serve(Duration took, int requests = 400) {
    for (int i = 0; i < requests; ++i) {
      FakeReply reply;
      Come(reply);
      Run(reply, took);
    }
  }
  // The least time left with which a newcomer is let in, to a millisecond: its forecast with what
  // is added to it.
  double Needed() {
    Duration low{}, high = seconds(1000);
    while (high - low > milliseconds(1)) {
      const Duration middle = low + (high - low) / 2;
      FakeReply reply;
      const bool let_in = Submit(model_, reply, clock_.Now() + middle).ok();
      if (let_in) scheduler_.Remove(model_->queue(), reply);
      (let_in ? high : low) = middle;
    }
    return Seconds(high);
  }

  bool finishes_ = true;
  const std::shared_ptr<ServedModel> model_ =
      MakeModel("m", {},
                {.forward = [this](models::Request&) { clock_.Advance(seconds(1)); },
                 .complete =
                     [this](models::Request& request) {
                       if (finishes_) request.Finish(absl::OkStatus());
                     }});
  FakeReply waiting_;
};

TEST_F(SchedulerForecast, AtFirstAQuarterIsAdded) { EXPECT_NEAR(Needed(), 7.5, 0.01); }

TEST_F(SchedulerForecast, NothingIsAddedWhereForecastsCameTrue) {
  Serve(seconds(6));
  EXPECT_NEAR(Needed(), 6, 0.05);
}

TEST_F(SchedulerForecast, NobodyIsLetInWhoWouldBeLateAsThoseBefore) {
  Serve(seconds(9));
  EXPECT_NEAR(Needed(), 9, 0.05);
}

TEST_F(SchedulerForecast, WhatExpiredWhileItWaitedCounts) {
  Serve(seconds(6));
  FakeReply reply;
  Come(reply, seconds(8));
  clock_.Advance(seconds(8));
  EXPECT_EQ(scheduler_.TakeExpired().size(), 1U);
  EXPECT_GT(Needed(), 6.1);
}

TEST_F(SchedulerForecast, WhatAWorkerFindsExpiredCounts) {
  Serve(seconds(6));
  FakeReply reply;
  Come(reply, seconds(8));
  clock_.Advance(seconds(8));
  for (int i = 0; i <= kLimit; ++i) {
    Pop();
    RunNow(std::move(popped_.batch.front()));
  }
  EXPECT_TRUE(Pop().empty());
  EXPECT_EQ(popped_.dropped.size(), 1U);
  Fill();
  EXPECT_GT(Needed(), 6.1);
}

TEST_F(SchedulerForecast, WhatExpiredWhileItRanCounts) {
  Serve(seconds(6));
  FakeReply reply;
  Come(reply, seconds(8));
  finishes_ = false;
  Run(reply, seconds(8));
  EXPECT_TRUE(reply.status());
  EXPECT_GT(Needed(), 6.1);
}

// gRPC cancels a call whose deadline passes, often just before it has passed here.
TEST_F(SchedulerForecast, WhoLeavesAfterItShouldHaveEndedCounts) {
  Serve(seconds(6));
  FakeReply reply;
  Come(reply, seconds(8));
  clock_.Advance(milliseconds(7999));
  EXPECT_NE(scheduler_.Remove(model_->queue(), reply), nullptr);
  EXPECT_GT(Needed(), 6.1);
}

TEST_F(SchedulerForecast, WhoLeavesEarlyTellsNothing) {
  const double before = Needed();
  for (int i = 0; i < 100; ++i) {
    FakeReply waits, runs;
    Come(waits);
    Come(runs);
    clock_.Advance(seconds(1));
    EXPECT_NE(scheduler_.Remove(model_->queue(), waits), nullptr);
    finishes_ = false;
    runs.Cancel();
    Run(runs, seconds(3));
    EXPECT_TRUE(runs.status());
  }
  EXPECT_EQ(Needed(), before);
}

TEST_F(SchedulerForecast, WhoReadsSlowlyTellsNothing) {
  const double before = Needed();
  for (int i = 0; i < 100; ++i) {
    FakeReply reply;
    Come(reply);
    finishes_ = false;
    reply.congested = true;
    Run(reply, seconds(6));
    reply.congested = false;
    std::unique_ptr<Job> job = reply.WaitParked();
    clock_.Advance(seconds(100));
    finishes_ = true;
    RunNow(std::move(job));
    EXPECT_TRUE(reply.status());
  }
  // That these took two steps does count.
  for (int i = 0; i < 1000; ++i) ReportPace();
  EXPECT_NEAR(Needed(), before, 0.002);
}

TEST_F(SchedulerForecast, WhoIsLetInForThatTheQueueIsEmptyTellsNothing) {
  const double before = Needed();
  for (int i = 0; i <= kLimit; ++i) {
    Pop();
    RunNow(std::move(popped_.batch.front()));
  }
  for (int i = 0; i < 100; ++i) {
    FakeReply reply;
    Come(reply, milliseconds(1));
    clock_.Advance(seconds(1000));
    EXPECT_EQ(scheduler_.TakeExpired().size(), 1U);
  }
  Fill();
  EXPECT_EQ(Needed(), before);
}

TEST_F(SchedulerForecast, NoFloodDoublesTheForecastOfOthers) {
  Serve(seconds(1000));
  EXPECT_NEAR(Needed(), 12, 0.01);
}

TEST_F(SchedulerForecast, WhereForecastsComeTrueAgainTheMarginGoes) {
  Serve(seconds(1000));
  Serve(seconds(6), 1000);
  EXPECT_NEAR(Needed(), 6, 0.01);
}

TEST_F(SchedulerForecast, WhoFindsAPlaceNeedsNoMargin) {
  Serve(seconds(1000));
  Pop();
  RunNow(std::move(popped_.batch.front()));
  EXPECT_NEAR(Needed(), 5, 0.01);  // four steps, and its own
}

TEST_F(SchedulerForecast, FailedRequestTellsNothing) {
  const double before = Needed();
  for (int i = 0; i < 100; ++i) {
    FakeReply reply;
    Come(reply);
    auto job = scheduler_.Remove(model_->queue(), reply);
    ASSERT_NE(job, nullptr);
    clock_.Advance(seconds(100));
    job->request.Finish(absl::InternalError("failed"));
    scheduler_.ReportEnd(*job);
  }
  EXPECT_EQ(Needed(), before);
}

}  // namespace
}  // namespace millrace::server
