#include <chrono>
#include <memory>
#include <utility>

#include "server/scheduling/refusal.h"
#include "server/scheduling/scheduler.h"
#include "tests/unit/server/scheduling/fixture.h"

namespace millrace::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::FakeReply;
using ::testing::HasSubstr;

// Returns true if a request with a deadline is let in when there is work before it. At first a
// third is added to that work, and to both a quarter; two steps are kept in reserve.
class SchedulerDeadlineTest : public SchedulingTest {
 protected:
  // Fills the queue with jobs due by then, whether they can be done or not.
  void FillWith(const std::shared_ptr<ServedModel>& model, int jobs, Duration due) {
    for (int i = 0; i < jobs; ++i) scheduler_.Enter(MakeJob(model, waiting_, clock_.Now() + due));
  }
  absl::Status SubmitWithin(const std::shared_ptr<ServedModel>& model, Duration left) {
    return Submit(model, reply_, clock_.Now() + left);
  }

  FakeReply waiting_, reply_;
};

TEST_F(SchedulerDeadlineTest, WithoutAKnownPaceEverybodyIsLetIn) {
  const auto model = MakeModel("m");
  FillWith(model, 50, seconds(1));
  EXPECT_TRUE(SubmitWithin(model, milliseconds(1)).ok());
}

TEST_F(SchedulerDeadlineTest, RefusesWhatWouldEndTooLateWithAHintOfTheWait) {
  const auto model = MakeModel("busy");
  scheduler_.ReportStep(model->queue(), {.jobs = 1, .took = seconds(1), .work = 1});
  FillWith(model, 4, seconds(9));
  const absl::Status status = SubmitWithin(model, milliseconds(9600));  // 4 / 3 * 5 / 4 * 4 + 1 + 2
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(MessageOf(status), HasSubstr("model 'busy' is busy"));
  EXPECT_THAT(MessageOf(status), HasSubstr("deadline"));
  EXPECT_EQ(RetryHint(status), seconds(4));
  EXPECT_TRUE(SubmitWithin(model, milliseconds(9700)).ok());
}

TEST_F(SchedulerDeadlineTest, CountsTheWorkThatIsLeftOfEach) {
  const auto model = MakeModel("m");
  scheduler_.ReportStep(model->queue(), {.jobs = 1, .took = seconds(1), .work = 1});
  std::unique_ptr<Job> waits = MakeJob(model, waiting_, clock_.Now() + seconds(39));
  waits->request.EstimateWorkLeft(20);
  scheduler_.Enter(std::move(waits));
  const auto submit = [&](Duration left) {
    std::unique_ptr<Job> job = MakeJob(model, reply_, clock_.Now() + left);
    job->request.EstimateWorkLeft(5);
    return scheduler_.Submit(job);
  };
  EXPECT_FALSE(submit(milliseconds(40200)).ok());  // 4 / 3 * 5 / 4 * 20 + 5 + 2
  EXPECT_TRUE(submit(milliseconds(40400)).ok());
}

TEST_F(SchedulerDeadlineTest, WorkThatIsDueLaterIsNotInTheWay) {
  const auto model = MakeModel("m");
  scheduler_.ReportStep(model->queue(), {.jobs = 1, .took = seconds(1), .work = 1});
  FillWith(model, 40, seconds(100));
  for (int i = 0; i < 40; ++i) ASSERT_TRUE(Submit(model, waiting_).ok());
  EXPECT_TRUE(SubmitWithin(model, seconds(10)).ok());
}

TEST_F(SchedulerDeadlineTest, NobodyIsLetInWhoMakesOthersLate) {
  const auto model = MakeModel("m");
  scheduler_.ReportStep(model->queue(), {.jobs = 1, .took = seconds(1), .work = 1});
  FillWith(model, 97, seconds(100));
  EXPECT_FALSE(SubmitWithin(model, seconds(10)).ok());
}

TEST_F(SchedulerDeadlineTest, RequestWithoutADeadlineIsLetIn) {
  const auto model = MakeModel("m");
  scheduler_.ReportStep(model->queue(), {.jobs = 1, .took = seconds(1), .work = 1});
  FillWith(model, 50, seconds(1));
  EXPECT_TRUE(Submit(model, reply_).ok());
}

TEST_F(SchedulerDeadlineTest, EmptyQueueLetsOneInSoThatThePaceIsMeasuredAgain) {
  const auto model = MakeModel("m");
  scheduler_.ReportStep(model->queue(), {.jobs = 1, .took = seconds(100), .work = 1});
  EXPECT_TRUE(SubmitWithin(model, seconds(1)).ok());
  EXPECT_FALSE(SubmitWithin(model, seconds(1)).ok());
}

TEST_F(SchedulerDeadlineTest, WhatCouldNotBeDoneInTwiceTheTimeIsRefusedByAnEmptyQueueToo) {
  const auto model = MakeModel("m");
  for (int i = 0; i < 10; ++i)
    scheduler_.ReportStep(model->queue(), {.jobs = 1, .took = seconds(100), .work = 1});
  EXPECT_FALSE(SubmitWithin(model, seconds(49)).ok());
  EXPECT_TRUE(SubmitWithin(model, seconds(51)).ok());
}

TEST_F(SchedulerDeadlineTest, BatchedStepsCountByTheJob) {
  const auto model = MakeModel("m", {.max_batch = 8});
  scheduler_.ReportStep(model->queue(), {.jobs = 8, .took = seconds(1), .work = 8});
  FillWith(model, 8, milliseconds(4500));
  // Eight jobs take a second, its own step another.
  EXPECT_FALSE(SubmitWithin(model, milliseconds(4600)).ok());
  EXPECT_TRUE(SubmitWithin(model, milliseconds(4700)).ok());
}

TEST_F(SchedulerDeadlineTest, PaceOfOneModelDoesNotTouchAnother) {
  const auto slow = MakeModel("slow");
  const auto fast = MakeModel("fast");
  scheduler_.ReportStep(slow->queue(), {.jobs = 1, .took = seconds(100), .work = 1});
  FillWith(fast, 10, seconds(1));
  EXPECT_TRUE(SubmitWithin(fast, seconds(1)).ok());
}

TEST_F(SchedulerDeadlineTest, WhatAnotherModelUsesIsNotCountedOn) {
  const auto busy = MakeModel("busy");
  const auto model = MakeModel("m");
  for (int i = 0; i < 20; ++i) {
    clock_.Advance(seconds(1));
    scheduler_.ReportStep(busy->queue(), {.jobs = 1, .took = seconds(1), .work = 1});
  }
  scheduler_.ReportStep(model->queue(), {.jobs = 1, .took = milliseconds(100), .work = 1});
  FillWith(busy, 1, seconds(100));
  FillWith(model, 10, milliseconds(3600));
  // A second of work takes two: 5 / 3 * 2 + 0.1 + 0.2.
  EXPECT_FALSE(SubmitWithin(model, milliseconds(3600)).ok());
  EXPECT_TRUE(SubmitWithin(model, milliseconds(3700)).ok());
}

TEST_F(SchedulerDeadlineTest, PaceFollowsTheNewestSteps) {
  const auto model = MakeModel("m");
  scheduler_.ReportStep(model->queue(), {.jobs = 1, .took = seconds(10), .work = 1});
  FillWith(model, 1, seconds(1));
  EXPECT_FALSE(SubmitWithin(model, seconds(1)).ok());
  for (int i = 0; i < 50; ++i)
    scheduler_.ReportStep(model->queue(), {.jobs = 1, .took = milliseconds(10), .work = 1});
  EXPECT_TRUE(SubmitWithin(model, seconds(1)).ok());
}

TEST_F(SchedulerDeadlineTest, MoreWorkersShortenTheWait) {
  Scheduler scheduler({.default_queue_size = 100, .workers = 4}, clock_);
  const auto model = Serve(scheduler, metrics_, "m");
  scheduler.ReportStep(model->queue(), {.jobs = 1, .took = seconds(1), .work = 1});
  for (int i = 0; i < 8; ++i) scheduler.Enter(MakeJob(model, waiting_, clock_.Now() + seconds(6)));
  // Eight jobs on four workers: two seconds, and one for its own step.
  auto late = MakeJob(model, reply_, clock_.Now() + milliseconds(6300));
  const absl::Status status = scheduler.Submit(late);
  EXPECT_EQ(RetryHint(status), seconds(2));
  auto in_time = MakeJob(model, reply_, clock_.Now() + milliseconds(6400));
  EXPECT_TRUE(scheduler.Submit(in_time).ok());
  late.reset();
  scheduler.Close();
}

TEST_F(SchedulerDeadlineTest, FullQueueHintsTheWaitWithinBounds) {
  const auto model = MakeModel("m", {.queue_size = 3});
  FillWith(model, 3, seconds(1000));
  EXPECT_EQ(RetryHint(Submit(model, reply_)), milliseconds(1));  // no pace known
  scheduler_.ReportStep(model->queue(), {.jobs = 1, .took = milliseconds(500), .work = 1});
  EXPECT_EQ(RetryHint(Submit(model, reply_)), milliseconds(1500));
  for (int i = 0; i < 50; ++i)
    scheduler_.ReportStep(model->queue(), {.jobs = 1, .took = seconds(1000), .work = 1});
  EXPECT_EQ(RetryHint(Submit(model, reply_)), seconds(60));
}

TEST(RetryHintTest, IsZeroForOtherStatuses) {
  EXPECT_EQ(RetryHint(absl::OkStatus()).count(), 0);
  EXPECT_EQ(RetryHint(absl::ResourceExhaustedError("full")).count(), 0);
}

}  // namespace
}  // namespace millrace::server
