#include <chrono>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "tests/unit/server/scheduling/step_fixture.h"

namespace millrace::server {
namespace {

using models::Request;
using std::chrono::milliseconds;
using testing::FakeReply;

constexpr uint64_t kMs = 1'000'000;

// Checks a model's counts of steps and of the ends of jobs.
class StepCountsTest : public StepTest {
 protected:
  // Each request takes 1 ms to prepare, 10 to forward and 2 to complete.
  testing::ModelHooks TakingTime(testing::ModelHooks::Hook complete) {
    return {.prepare = [this](Request&) { clock_.Advance(milliseconds(1)); },
            .forward = [this](Request&) { clock_.Advance(milliseconds(10)); },
            .complete =
                [this, complete = std::move(complete)](Request& request) {
                  clock_.Advance(milliseconds(2));
                  complete(request);
                }};
  }
  static void Succeed(Request& request) { request.Finish(absl::OkStatus()); }
};

TEST_F(StepCountsTest, EachRequestHasTheTimesOfItsWholeStep) {
  FakeReply a, b;
  const auto model = MakeModel("m", {.max_batch = 4}, TakingTime(Succeed));
  device_.permit_wait = milliseconds(3);
  auto batch = MakeBatch(model, {&a, &b});
  clock_.Advance(milliseconds(500));
  Run(std::move(batch));
  const InferenceCounts::Totals totals = model->counts().Collect();
  EXPECT_EQ(totals.success.count, 2U);
  EXPECT_EQ(totals.success.ns, 2 * (500 + 2 + 20 + 4) * kMs);
  EXPECT_EQ(totals.queue_ns, 2 * 503 * kMs);
  EXPECT_EQ(totals.input_ns, 2 * 2 * kMs);
  EXPECT_EQ(totals.infer_ns, 2 * (20 - 3) * kMs);
  EXPECT_EQ(totals.output_ns, 2 * 4 * kMs);
  EXPECT_EQ(totals.last_step, clock_.Now());
  ASSERT_EQ(totals.batches.size(), 1U);
  EXPECT_EQ(totals.batches[0].requests, 2U);
  EXPECT_EQ(totals.batches[0].steps, 1U);
  EXPECT_EQ(totals.batches[0].infer_ns, 17 * kMs);
}

TEST_F(StepCountsTest, RequestOfSeveralStepsCountsOnceWithAllOfThem) {
  FakeReply reply;
  int left = 3;
  const auto model = MakeModel("m", {}, TakingTime([&left](Request& request) {
                                 if (--left == 0) request.Finish(absl::OkStatus());
                               }));
  ASSERT_TRUE(Submit(model, reply).ok());
  while (!reply.status()) {
    Pop();
    Run(std::move(popped_.batch));
  }
  const InferenceCounts::Totals totals = model->counts().Collect();
  EXPECT_EQ(totals.success.count, 1U);
  EXPECT_EQ(totals.steps, 3U);
  EXPECT_EQ(totals.infer_ns, 3 * 10 * kMs);
  EXPECT_EQ(totals.success.ns, 3 * 13 * kMs);
}

TEST_F(StepCountsTest, RequestThatPrepareRefusesIsNotInTheStep) {
  FakeReply refused, served;
  const auto model = MakeModel("m", {.max_batch = 2}, {.prepare = [](Request& request) {
                                 if (NameOf(request) == "refused")
                                   request.Finish(absl::InvalidArgumentError("text: no"));
                               }});
  std::vector<std::unique_ptr<Job>> batch;
  batch.push_back(Named(MakeJob(model, refused), "refused"));
  batch.push_back(Named(MakeJob(model, served), "served"));
  Run(std::move(batch));
  const InferenceCounts::Totals totals = model->counts().Collect();
  EXPECT_EQ(totals.success.count, 1U);
  EXPECT_EQ(totals.failure.count, 1U);
  ASSERT_EQ(totals.batches.size(), 1U);
  EXPECT_EQ(totals.batches[0].requests, 1U);
}

TEST_F(StepCountsTest, StepThatFailsIsNotCounted) {
  FakeReply poison, good;
  testing::ModelHooks hooks = TakingTime(Succeed);
  hooks.forward = [this](Request& request) {
    clock_.Advance(milliseconds(10));
    if (NameOf(request) == "poison") throw std::runtime_error("bad");
  };
  const auto model = MakeModel("m", {.max_batch = 2}, std::move(hooks));
  std::vector<std::unique_ptr<Job>> batch;
  batch.push_back(Named(MakeJob(model, poison), "poison"));
  batch.push_back(Named(MakeJob(model, good), "good"));
  Run(std::move(batch));
  const InferenceCounts::Totals totals = model->counts().Collect();
  EXPECT_EQ(totals.success.count, 1U);
  EXPECT_EQ(totals.failure.count, 1U);
  ASSERT_EQ(totals.batches.size(), 1U);
  EXPECT_EQ(totals.batches[0].requests, 1U);  // the good one, run again alone
  EXPECT_EQ(totals.batches[0].steps, 1U);
  EXPECT_EQ(totals.infer_ns, 10 * kMs);
}

TEST_F(StepCountsTest, JobThatEndsWithoutAStepIsAFailure) {
  FakeReply reply;
  const auto model = MakeModel("m");
  auto job = MakeJob(model, reply);
  clock_.Advance(milliseconds(40));
  reply.on_finish = [&model] { EXPECT_EQ(model->counts().Collect().failure.count, 1U); };
  FinishJob(std::move(job), absl::CancelledError("the caller went away"));
  EXPECT_EQ(model->counts().Collect().failure.ns, 40 * kMs);
  EXPECT_EQ(model->counts().Collect().steps, 0U);
}

}  // namespace
}  // namespace millrace::server
