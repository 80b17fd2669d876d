#include <chrono>
#include <string>

#include "server/scheduling/refusal.h"
#include "server/scheduling/scheduler.h"
#include "tests/unit/server/scheduling/fixture.h"

namespace millrace::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::FakeReply;
using ::testing::HasSubstr;

// Whether a request with a deadline is let into a queue that cannot serve it in time.
class SchedulerDeadline : public SchedulingTest {
 protected:
  // Fills the queue with jobs that have no deadline.
  void FillWith(const std::shared_ptr<ServedModel>& model, int jobs) {
    for (int i = 0; i < jobs; ++i) ASSERT_TRUE(Submit(model, waiting_).ok());
  }
  absl::Status SubmitWithin(const std::shared_ptr<ServedModel>& model, Duration left) {
    return Submit(model, reply_, clock_.Now() + left);
  }

  FakeReply waiting_, reply_;
};

TEST_F(SchedulerDeadline, WithoutAKnownPaceEverybodyIsLetIn) {
  const auto model = MakeModel("m");
  FillWith(model, 50);
  EXPECT_TRUE(SubmitWithin(model, milliseconds(1)).ok());
}

TEST_F(SchedulerDeadline, RefusesWhatWouldStartTooLateWithAHintOfTheWait) {
  const auto model = MakeModel("busy");
  scheduler_.ReportStep(model->queue(), {.jobs = 1, .took = seconds(1)});
  FillWith(model, 4);  // four seconds of work, then a step of one second
  const absl::Status status = SubmitWithin(model, milliseconds(4900));
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(MessageOf(status), HasSubstr("model 'busy' is busy"));
  EXPECT_THAT(MessageOf(status), HasSubstr("deadline"));
  EXPECT_EQ(RetryHint(status), seconds(4));
  EXPECT_TRUE(SubmitWithin(model, milliseconds(5100)).ok());
}

TEST_F(SchedulerDeadline, RequestWithoutADeadlineIsLetIn) {
  const auto model = MakeModel("m");
  scheduler_.ReportStep(model->queue(), {.jobs = 1, .took = seconds(1)});
  FillWith(model, 50);
  EXPECT_TRUE(Submit(model, reply_).ok());
}

TEST_F(SchedulerDeadline, EmptyQueueLetsOneInSoThatThePaceIsMeasuredAgain) {
  const auto model = MakeModel("m");
  scheduler_.ReportStep(model->queue(), {.jobs = 1, .took = seconds(100)});
  EXPECT_TRUE(SubmitWithin(model, seconds(1)).ok());
}

TEST_F(SchedulerDeadline, BatchedStepsCountByTheJob) {
  const auto model = MakeModel("m", {.max_batch = 8});
  scheduler_.ReportStep(model->queue(), {.jobs = 8, .took = seconds(1)});  // 1/8 s for each job
  FillWith(model, 8);
  EXPECT_FALSE(SubmitWithin(model, milliseconds(1900)).ok());  // 8 jobs and a step: 2 s
  EXPECT_TRUE(SubmitWithin(model, milliseconds(2100)).ok());
}

TEST_F(SchedulerDeadline, PaceOfOneModelDoesNotTouchAnother) {
  const auto slow = MakeModel("slow");
  const auto fast = MakeModel("fast");
  scheduler_.ReportStep(slow->queue(), {.jobs = 1, .took = seconds(100)});
  FillWith(fast, 10);
  EXPECT_TRUE(SubmitWithin(fast, seconds(1)).ok());
}

TEST_F(SchedulerDeadline, PaceFollowsTheNewestSteps) {
  const auto model = MakeModel("m");
  scheduler_.ReportStep(model->queue(), {.jobs = 1, .took = seconds(10)});
  FillWith(model, 1);
  EXPECT_FALSE(SubmitWithin(model, seconds(1)).ok());
  for (int i = 0; i < 50; ++i)
    scheduler_.ReportStep(model->queue(), {.jobs = 1, .took = milliseconds(10)});
  EXPECT_TRUE(SubmitWithin(model, seconds(1)).ok());
}

TEST_F(SchedulerDeadline, MoreWorkersShortenTheWait) {
  Scheduler scheduler({.default_queue_size = 100, .workers = 4}, clock_);
  const auto model = Serve(scheduler, metrics_, "m");
  scheduler.ReportStep(model->queue(), {.jobs = 1, .took = seconds(1)});
  for (int i = 0; i < 8; ++i) {
    auto job = MakeJob(model, waiting_);
    ASSERT_TRUE(scheduler.Submit(job).ok());
  }
  // Eight jobs on four workers: two seconds, and one for its own step.
  auto late = MakeJob(model, reply_, clock_.Now() + milliseconds(2900));
  const absl::Status status = scheduler.Submit(late);
  EXPECT_EQ(RetryHint(status), seconds(2));
  auto in_time = MakeJob(model, reply_, clock_.Now() + milliseconds(3100));
  EXPECT_TRUE(scheduler.Submit(in_time).ok());
  late.reset();
  scheduler.Close();
}

TEST_F(SchedulerDeadline, FullQueueHintsTheWaitWithinBounds) {
  const auto model = MakeModel("m", {.queue_size = 3});
  FillWith(model, 3);
  EXPECT_EQ(RetryHint(Submit(model, reply_)), milliseconds(1));  // no pace known
  scheduler_.ReportStep(model->queue(), {.jobs = 1, .took = milliseconds(500)});
  EXPECT_EQ(RetryHint(Submit(model, reply_)), milliseconds(1500));
  for (int i = 0; i < 50; ++i)
    scheduler_.ReportStep(model->queue(), {.jobs = 1, .took = seconds(1000)});
  EXPECT_EQ(RetryHint(Submit(model, reply_)), seconds(60));
}

TEST(RetryHint, IsZeroForOtherStatuses) {
  EXPECT_EQ(RetryHint(absl::OkStatus()).count(), 0);
  EXPECT_EQ(RetryHint(absl::ResourceExhaustedError("full")).count(), 0);
}

}  // namespace
}  // namespace millrace::server
