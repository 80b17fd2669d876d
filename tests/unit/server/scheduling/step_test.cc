#include "server/scheduling/step.h"

#include <chrono>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "tests/unit/server/scheduling/step_fixture.h"

namespace millrace::server {
namespace {

using models::Request;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using testing::FakeReply;

double Sum(const ShardedHistogram& histogram) { return histogram.Collect().histogram.sample_sum; }
uint64_t Count(const ShardedHistogram& histogram) {
  return histogram.Collect().histogram.sample_count;
}

// Each request of a model that needs several steps counts its own.
struct StepsDone final : models::RequestState {
  void Suspend() override { ++suspended; }

  int steps = 0;
  int suspended = 0;
};

testing::ModelHooks::Hook FinishAfter(int steps) {
  return [steps](Request& request) {
    if (request.state() == nullptr) request.set_state(std::make_unique<StepsDone>());
    auto& done = static_cast<StepsDone&>(*request.state());
    request.Emit(
        models::TranslateOutput{.text_index = static_cast<size_t>(done.steps), .text = ""});
    if (++done.steps == steps) request.Finish(absl::OkStatus());
  };
}

TEST_F(StepTest, DeliversEachRequestItsOwnOutcome) {
  FakeReply good, bad;
  std::vector<std::string> phases;
  const auto model =
      MakeModel("m", {.max_batch = 2},
                {.prepare = [&](Request& r) { phases.push_back("prepare " + NameOf(r)); },
                 .forward = [&](Request& r) { phases.push_back("forward " + NameOf(r)); },
                 .complete =
                     [&](Request& r) {
                       phases.push_back("complete " + NameOf(r));
                       r.Finish(NameOf(r) == "bad" ? absl::InvalidArgumentError("text: bad")
                                                   : absl::OkStatus());
                     }});
  std::vector<std::unique_ptr<Job>> batch;
  batch.push_back(Named(MakeJob(model, good), "good"));
  batch.push_back(Named(MakeJob(model, bad), "bad"));
  Run(std::move(batch));
  EXPECT_THAT(phases, ElementsAre("prepare good", "prepare bad", "forward good", "forward bad",
                                  "complete good", "complete bad"));
  EXPECT_TRUE(good.status()->ok());
  EXPECT_EQ(bad.status()->code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(good.finishes() + bad.finishes(), 2);
}

TEST_F(StepTest, RequestThatPrepareRefusesGoesNoFurther) {
  FakeReply refused, served;
  int forwards = 0;
  const auto model = MakeModel("m", {.max_batch = 2},
                               {.prepare =
                                    [](Request& r) {
                                      if (NameOf(r) == "refused")
                                        r.Finish(absl::InvalidArgumentError("text: no"));
                                    },
                                .forward = [&](Request&) { ++forwards; }});
  std::vector<std::unique_ptr<Job>> batch;
  batch.push_back(Named(MakeJob(model, refused), "refused"));
  batch.push_back(Named(MakeJob(model, served), "served"));
  Run(std::move(batch));
  EXPECT_EQ(refused.status()->code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(served.status()->ok());
  EXPECT_EQ(forwards, 1);
}

TEST_F(StepTest, WithNothingLeftAfterPrepareTheDeviceIsNotTouched) {
  FakeReply reply;
  const auto model = MakeModel("m", {},
                               {.prepare = [](Request& r) { r.Finish(absl::OkStatus()); },
                                .forward = [](Request&) { FAIL() << "forward of nothing"; }});
  Run(model, {&reply});
  EXPECT_TRUE(reply.status()->ok());
  EXPECT_EQ(Count(model->metrics().compute_seconds), 0U);
  EXPECT_EQ(Count(model->metrics().batch_size), 1U);
}

TEST_F(StepTest, UnfinishedRequestGoesBackToItsQueueAndComesToItsEnd) {
  FakeReply longer, shorter;
  const auto model = MakeModel("m", {.max_batch = 2}, {.complete = FinishAfter(3)});
  Run(model, {&longer});
  EXPECT_FALSE(longer.status());
  EXPECT_EQ(scheduler_.depth(model->queue()), 1U);
  ASSERT_TRUE(Submit(model, shorter).ok());
  while (!shorter.status()) {
    Pop();
    Run(std::move(popped_.batch));
  }
  EXPECT_TRUE(longer.status()->ok());
  EXPECT_EQ(longer.finishes(), 1);
  std::vector<size_t> order;
  for (const auto& output : longer.outputs())
    order.push_back(std::get<models::TranslateOutput>(output).text_index);
  EXPECT_THAT(order, ElementsAre(0, 1, 2));
  EXPECT_EQ(scheduler_.depth(model->queue()), 0U);
}

TEST_F(StepTest, RequestWithACongestedReplyIsParkedInsteadOfQueued) {
  FakeReply slow, quick;
  const auto model = MakeModel("m", {.max_batch = 2}, {.complete = FinishAfter(2)});
  slow.congested = true;
  Run(model, {&slow, &quick});
  EXPECT_TRUE(slow.parked());
  EXPECT_FALSE(slow.status());
  EXPECT_EQ(scheduler_.depth(model->queue()), 1U);  // the quick one

  slow.congested = false;
  std::unique_ptr<Job> job = slow.WaitParked();
  // It gave back what others may wait for; those that go on did not.
  EXPECT_EQ(static_cast<StepsDone&>(*job->request.state()).suspended, 1);
  scheduler_.Requeue(std::move(job));
  Pop();
  for (const auto& waiting : popped_.batch) {
    const auto& done = static_cast<StepsDone&>(*waiting->request.state());
    EXPECT_EQ(done.suspended, &waiting->reply == &slow ? 1 : 0);
  }
  Run(std::move(popped_.batch));
  EXPECT_TRUE(slow.status()->ok());
  EXPECT_TRUE(quick.status()->ok());
}

TEST_F(StepTest, FinishedRequestWithACongestedReplyEnds) {
  FakeReply slow;
  slow.congested = true;
  const auto model = MakeModel("m");
  Run(model, {&slow});
  EXPECT_FALSE(slow.parked());
  EXPECT_TRUE(slow.status()->ok());
}

TEST_F(StepTest, CancelledRequestEndsAfterItsStep) {
  FakeReply gone, stays;
  const auto model = MakeModel("m", {.max_batch = 2}, {.complete = FinishAfter(2)});
  auto batch = MakeBatch(model, {&gone, &stays});
  gone.Cancel();
  Run(std::move(batch));
  EXPECT_EQ(gone.status()->code(), absl::StatusCode::kCancelled);
  EXPECT_FALSE(stays.status());
  EXPECT_EQ(scheduler_.depth(model->queue()), 1U);
}

TEST_F(StepTest, ExpiredRequestEndsAfterItsStep) {
  FakeReply late;
  const auto model = MakeModel(
      "m", {},
      {.forward = [this](Request&) { clock_.Advance(seconds(2)); }, .complete = FinishAfter(2)});
  Run(MakeBatch(model, {&late}, clock_.Now() + seconds(1)));
  EXPECT_EQ(late.status()->code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(scheduler_.depth(model->queue()), 0U);
}

// gRPC also cancels a call whose deadline has passed: the deadline is what the count should show.
TEST_F(StepTest, RequestThatExpiredAndWasCancelledCountsAsExpired) {
  FakeReply late;
  const auto model = MakeModel("m", {},
                               {.forward =
                                    [&](Request&) {
                                      clock_.Advance(seconds(2));
                                      late.Cancel();
                                    },
                                .complete = FinishAfter(2)});
  Run(MakeBatch(model, {&late}, clock_.Now() + seconds(1)));
  EXPECT_EQ(late.status()->code(), absl::StatusCode::kDeadlineExceeded);
}

TEST_F(StepTest, WorkThatIsDoneIsDeliveredEvenIfLate) {
  FakeReply late;
  const auto model =
      MakeModel("m", {}, {.forward = [this](Request&) { clock_.Advance(seconds(2)); }});
  Run(MakeBatch(model, {&late}, clock_.Now() + seconds(1)));
  EXPECT_TRUE(late.status()->ok());
}

TEST_F(StepTest, ObservesItsMetrics) {
  FakeReply a, b;
  const auto model = MakeModel(
      "m", {.max_batch = 2}, {.forward = [this](Request&) { clock_.Advance(milliseconds(100)); }});
  device_.permit_wait = milliseconds(30);
  auto batch = MakeBatch(model, {&a, &b});
  clock_.Advance(milliseconds(500));
  Run(std::move(batch));
  const ModelMetrics& metrics = model->metrics();
  EXPECT_EQ(Count(metrics.batch_size), 1U);
  EXPECT_DOUBLE_EQ(Sum(metrics.batch_size), 2);
  EXPECT_EQ(Count(metrics.queue_seconds), 2U);
  EXPECT_DOUBLE_EQ(Sum(metrics.queue_seconds), 1.0);
  EXPECT_EQ(Count(metrics.compute_seconds), 1U);
  EXPECT_DOUBLE_EQ(Sum(metrics.compute_seconds), 0.17);  // two forwards, less the wait
  EXPECT_EQ(Count(metrics.permit_wait_seconds), 1U);
  EXPECT_DOUBLE_EQ(Sum(metrics.permit_wait_seconds), 0.03);
}

TEST_F(StepTest, WaitingCountsOnceForARequestOfManySteps) {
  FakeReply reply;
  const auto model = MakeModel("m", {}, {.complete = FinishAfter(3)});
  ASSERT_TRUE(Submit(model, reply).ok());
  while (!reply.status()) {
    clock_.Advance(milliseconds(250));
    Pop();
    Run(std::move(popped_.batch));
  }
  EXPECT_EQ(Count(model->metrics().queue_seconds), 1U);
  EXPECT_DOUBLE_EQ(Sum(model->metrics().queue_seconds), 0.75);
}

TEST_F(StepTest, ReportsTheTimeToDeliverToo) {
  FakeReply done, waiting, refused;
  const auto model =
      MakeModel("m", {}, {.forward = [this](Request&) { clock_.Advance(seconds(1)); }});
  done.on_finish = [this] { clock_.Advance(seconds(1)); };
  Run(model, {&done});
  ASSERT_TRUE(Submit(model, waiting, clock_.Now() + seconds(9)).ok());
  // Two seconds of waiting, with what is added, two of its own, and two steps.
  EXPECT_FALSE(Submit(model, refused, clock_.Now() + milliseconds(9300)).ok());
  EXPECT_TRUE(Submit(model, refused, clock_.Now() + milliseconds(9400)).ok());
}

TEST_F(StepTest, ReportsItsTimeToTheScheduler) {
  FakeReply a, b, waiting, refused;
  const auto model = MakeModel("m", {.max_batch = 2},
                               {.forward = [this](Request&) { clock_.Advance(seconds(1)); }});
  Run(model, {&a, &b});
  ASSERT_TRUE(Submit(model, waiting, clock_.Now() + seconds(7)).ok());
  // One second a job waits, with what is added, then a step of two; two more are in reserve.
  EXPECT_FALSE(Submit(model, refused, clock_.Now() + milliseconds(7600)).ok());
  EXPECT_TRUE(Submit(model, refused, clock_.Now() + milliseconds(7700)).ok());
}

TEST_F(StepTest, ReportsNoTimeInWhichNothingComputed) {
  FakeReply a, b, waiting, refused;
  const auto model = MakeModel(
      "m", {.max_batch = 2},
      {.forward = [this](Request&) { clock_.Advance(seconds(31)); }, .stalled = seconds(60)});
  Run(model, {&a, &b});
  // As if each had taken a second.
  ASSERT_TRUE(Submit(model, waiting, clock_.Now() + seconds(7)).ok());
  EXPECT_FALSE(Submit(model, refused, clock_.Now() + milliseconds(7600)).ok());
  EXPECT_TRUE(Submit(model, refused, clock_.Now() + milliseconds(7700)).ok());
}

}  // namespace
}  // namespace millrace::server
