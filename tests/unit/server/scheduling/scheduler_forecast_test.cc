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

// The scheduler learns from how its forecasts came true and lets in by that. One worker, one job a
// step of a second.
class SchedulerForecastTest : public StepTest {
 protected:
  static constexpr int kAhead = 5;

  SchedulerForecastTest() { ReportPace(); }

  void ReportPace() {
    scheduler_.ReportStep(model_->queue(), {.jobs = 1, .took = seconds(1), .work = 1});
  }
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
  // Somebody is let in, and expires.
  void Expire() {
    FakeReply reply;
    Come(reply, seconds(8));
    clock_.Advance(seconds(8));
    EXPECT_EQ(scheduler_.TakeExpired().size(), 1U);
  }
  // The least time left with which a newcomer is let in behind five steps, to a millisecond. It is
  // a step, two are in reserve, and what is over is for the wait, with what is added to it.
  double Needed() {
    FakeReply ahead[kAhead];
    for (FakeReply& reply : ahead)
      scheduler_.Enter(MakeJob(model_, reply, clock_.Now() + seconds(8)));
    Duration low{}, high = seconds(1000);
    while (high - low > milliseconds(1)) {
      const Duration middle = low + (high - low) / 2;
      FakeReply reply;
      const bool let_in = Submit(model_, reply, clock_.Now() + middle).ok();
      if (let_in) scheduler_.Remove(model_->queue(), reply);
      (let_in ? high : low) = middle;
    }
    for (FakeReply& reply : ahead) EXPECT_NE(scheduler_.Remove(model_->queue(), reply), nullptr);
    return Seconds(high);
  }
  static constexpr double kWithout = 3 + 4.0 / 3 * kAhead;

  bool finishes_ = true;
  const std::shared_ptr<ServedModel> model_ =
      MakeModel("m", {},
                {.forward = [this](models::Request&) { clock_.Advance(seconds(1)); },
                 .complete =
                     [this](models::Request& request) {
                       if (finishes_) request.Finish(absl::OkStatus());
                     }});
};

TEST_F(SchedulerForecastTest, AtFirstAQuarterIsAdded) {
  EXPECT_NEAR(Needed(), 3 + 1.25 * 4 / 3 * kAhead, 0.01);
}

TEST_F(SchedulerForecastTest, NothingIsAddedWhereRequestsEndInTime) {
  Serve(seconds(1));
  EXPECT_NEAR(Needed(), kWithout, 0.05);
}

// Requests take turns while there is time for it.
TEST_F(SchedulerForecastTest, HowLongBeforeTheirDeadlineTheyEndIsNoMatter) {
  Serve(seconds(900));
  EXPECT_NEAR(Needed(), kWithout, 0.05);
}

TEST_F(SchedulerForecastTest, WhatExpiredWhileItWaitedCounts) {
  Serve(seconds(1));
  const double before = Needed();
  Expire();
  EXPECT_GT(Needed(), before + 0.1);
}

TEST_F(SchedulerForecastTest, WhatAWorkerFindsExpiredCounts) {
  Serve(seconds(1));
  const double before = Needed();
  FakeReply reply;
  Come(reply, seconds(8));
  clock_.Advance(seconds(8));
  EXPECT_TRUE(Pop().empty());
  EXPECT_EQ(popped_.dropped.size(), 1U);
  EXPECT_GT(Needed(), before + 0.1);
}

TEST_F(SchedulerForecastTest, WhatExpiredWhileItRanCounts) {
  Serve(seconds(1));
  const double before = Needed();
  FakeReply reply;
  Come(reply, seconds(8));
  finishes_ = false;
  Run(reply, seconds(8));
  EXPECT_TRUE(reply.status());
  EXPECT_GT(Needed(), before + 0.1);
}

// gRPC cancels a call whose deadline passes, often just before it has passed here.
TEST_F(SchedulerForecastTest, WhoLeavesAfterItShouldHaveEndedCounts) {
  Serve(seconds(1));
  const double before = Needed();
  FakeReply reply;
  Come(reply, seconds(8));
  clock_.Advance(milliseconds(7999));
  EXPECT_NE(scheduler_.Remove(model_->queue(), reply), nullptr);
  EXPECT_GT(Needed(), before + 0.1);
}

TEST_F(SchedulerForecastTest, WhoLeavesEarlyTellsNothing) {
  const double before = Needed();
  for (int i = 0; i < 100; ++i) {
    FakeReply waits, runs;
    Come(waits);
    Come(runs);
    EXPECT_NE(scheduler_.Remove(model_->queue(), waits), nullptr);
    finishes_ = false;
    runs.Cancel();
    Run(runs, seconds(1));
    EXPECT_TRUE(runs.status());
  }
  EXPECT_NEAR(Needed(), before, 0.002);
}

TEST_F(SchedulerForecastTest, WhoReadsSlowlyTellsNothing) {
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
  // Two steps for each of these do count.
  for (int i = 0; i < 1000; ++i) ReportPace();
  EXPECT_NEAR(Needed(), before, 0.002);
}

TEST_F(SchedulerForecastTest, NoFloodDoublesTheForecastOfOthers) {
  for (int i = 0; i < 1000; ++i) Expire();
  EXPECT_NEAR(Needed(), 3 + 2 * 4.0 / 3 * kAhead, 0.01);
}

TEST_F(SchedulerForecastTest, WhereForecastsComeTrueAgainTheMarginGoes) {
  for (int i = 0; i < 1000; ++i) Expire();
  Serve(seconds(1), 1000);
  EXPECT_NEAR(Needed(), kWithout, 0.01);
}

TEST_F(SchedulerForecastTest, FailedRequestTellsNothing) {
  const double before = Needed();
  for (int i = 0; i < 100; ++i) {
    FakeReply reply;
    Come(reply);
    std::vector<std::unique_ptr<Job>> batch;
    batch.push_back(scheduler_.Remove(model_->queue(), reply));
    ASSERT_NE(batch.front(), nullptr);
    clock_.Advance(seconds(100));
    batch.front()->request.Finish(absl::InternalError("failed"));
    scheduler_.EndStep(batch, seconds(1));
  }
  EXPECT_EQ(Needed(), before);
}

// Work that began may prove to be more than it was judged; newcomers are then judged so, too.
TEST_F(SchedulerForecastTest, WorkThatWasJudgedTooSmallCountsAsItProves) {
  Serve(seconds(1));
  for (int i = 0; i < 1000; ++i) {
    FakeReply reply;
    std::vector<std::unique_ptr<Job>> batch;
    batch.push_back(MakeJob(model_, reply));
    batch.front()->request.EstimateWorkLeft(2);
    batch.front()->request.Finish(absl::OkStatus());
    scheduler_.EndStep(batch, seconds(2));
    scheduler_.ReportStep(model_->queue(), {.jobs = 1, .took = seconds(2), .work = 2});
  }
  // Each is two units: ten seconds before it, two steps of one, and two of two in reserve.
  EXPECT_NEAR(Needed(), 4.0 / 3 * 10 + 2 + 4, 0.1);
}

}  // namespace
}  // namespace millrace::server
