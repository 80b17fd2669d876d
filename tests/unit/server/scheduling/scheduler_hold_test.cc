#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "server/scheduling/refusal.h"
#include "tests/unit/server/scheduling/step_fixture.h"

namespace millrace::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using testing::FakeModel;
using testing::FakeReply;
using ::testing::HasSubstr;

// A model whose queue is held until its weights come.
class SchedulerHoldTest : public StepTest {
 protected:
  std::shared_ptr<ServedModel> MakeIdle(const std::string& name, models::BatchPolicy policy = {},
                                        Duration load_time = {}) {
    models::ModelInfo info;
    info.name = name;
    info.batching = policy;
    const ServedModel loaded(std::make_unique<FakeModel>(std::move(info)), scheduler_,
                             metrics_.ForModel(name), {.bytes = 1, .time = load_time});
    return ServedModel::MakeIdle(loaded, [this](const auto& model, Hold::Job job) {
      wanted_.push_back(model->info().name + (job == Hold::Job::kWaits ? "" : ", refused"));
    });
  }
  static void Load(ServedModel& idle, testing::ModelHooks hooks = {}) {
    idle.Load(std::make_unique<FakeModel>(idle.info(), std::move(hooks)), {.bytes = 1});
    idle.Release();
  }

  std::vector<std::string> wanted_;
};

TEST_F(SchedulerHoldTest, JobsWaitUntilTheQueueIsReleased) {
  const auto idle = MakeIdle("idle");
  const auto other = MakeModel("other");
  FakeReply a, b, c;
  ASSERT_TRUE(Submit(idle, a).ok());
  ASSERT_TRUE(Submit(idle, b).ok());
  clock_.Advance(seconds(1));
  ASSERT_TRUE(Submit(other, c).ok());
  EXPECT_THAT(wanted_, ElementsAre("idle", "idle"));
  EXPECT_THAT(Pop(), ElementsAre(&c));  // although the others have waited longer
  Load(*idle);
  EXPECT_THAT(Pop(), ElementsAre(&a));
  EXPECT_THAT(Pop(), ElementsAre(&b));
  ASSERT_TRUE(Submit(idle, c).ok());
  EXPECT_EQ(wanted_.size(), 2U);
}

TEST_F(SchedulerHoldTest, TheQueueIsBounded) {
  const auto idle = MakeIdle("idle", {.queue_size = 1});
  FakeReply a, b;
  ASSERT_TRUE(Submit(idle, a).ok());
  EXPECT_EQ(Submit(idle, b).code(), absl::StatusCode::kResourceExhausted);
}

TEST_F(SchedulerHoldTest, JobsMayLeaveAndExpire) {
  const auto idle = MakeIdle("idle");
  FakeReply gone, late, stays;
  ASSERT_TRUE(Submit(idle, gone).ok());
  ASSERT_TRUE(Submit(idle, late, clock_.Now() + seconds(1)).ok());
  ASSERT_TRUE(Submit(idle, stays).ok());
  EXPECT_NE(scheduler_.Remove(idle->queue(), gone), nullptr);
  clock_.Advance(seconds(1));
  EXPECT_THAT(Replies(scheduler_.TakeExpired()), ElementsAre(&late));
  Load(*idle);
  EXPECT_THAT(Pop(), ElementsAre(&stays));
}

TEST_F(SchedulerHoldTest, JobThatWouldBeLateIsRefusedAndAsksForTheModelAllTheSame) {
  const auto idle = MakeIdle("idle", {}, seconds(8));
  FakeReply early, patient, later;
  const absl::Status status = Submit(idle, early, clock_.Now() + milliseconds(3900));
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(MessageOf(status), HasSubstr("model 'idle' is being loaded"));
  EXPECT_EQ(RetryHint(status), seconds(8));
  EXPECT_THAT(wanted_, ElementsAre("idle, refused"));
  EXPECT_TRUE(Submit(idle, patient, clock_.Now() + seconds(4)).ok());
  clock_.Advance(seconds(6));  // loading takes two more
  EXPECT_TRUE(Submit(idle, later, clock_.Now() + milliseconds(1100)).ok());
}

TEST_F(SchedulerHoldTest, ExpectedWaitIsThatForTheModelOnceItIsWanted) {
  const auto idle = MakeIdle("idle", {}, seconds(8));
  EXPECT_EQ(scheduler_.load(idle->queue()).expected_wait, 0);
  scheduler_.Want(idle->queue());
  EXPECT_THAT(wanted_, ElementsAre("idle"));
  clock_.Advance(seconds(3));
  EXPECT_EQ(scheduler_.load(idle->queue()).expected_wait, 5);
  clock_.Advance(seconds(30));
  EXPECT_EQ(scheduler_.load(idle->queue()).expected_wait, 0);
  Load(*idle);
  EXPECT_EQ(scheduler_.load(idle->queue()).expected_wait, 0);
}

TEST_F(SchedulerHoldTest, JobsEndTogetherIfTheModelDoesNotCome) {
  const auto idle = MakeIdle("idle");
  FakeReply a, b;
  ASSERT_TRUE(Submit(idle, a).ok());
  ASSERT_TRUE(Submit(idle, b).ok());
  idle->EndHeld(absl::UnavailableError("broken"));
  EXPECT_EQ(a.status(), absl::UnavailableError("broken"));
  EXPECT_EQ(b.status(), absl::UnavailableError("broken"));
  EXPECT_EQ(scheduler_.depth(idle->queue()), 0U);
  // The jobs of a queue that is not held are no concern of this.
  Load(*idle);
  FakeReply c;
  ASSERT_TRUE(Submit(idle, c).ok());
  idle->EndHeld(absl::UnavailableError("broken"));
  EXPECT_THAT(Pop(), ElementsAre(&c));
}

TEST_F(SchedulerHoldTest, WaitingJobsTakeNoShareOfTheWorkers) {
  const auto idle = MakeIdle("idle");
  const auto model = MakeModel("m");
  const auto greedy = MakeModel("greedy");
  const auto run = [&](const std::shared_ptr<ServedModel>& of, Duration took) {
    FakeReply reply;
    ASSERT_TRUE(Submit(of, reply).ok());
    ASSERT_TRUE(scheduler_.PopBatch(popped_));
    clock_.Advance(took);
    scheduler_.EndStep(popped_.batch, took);
    scheduler_.ReportStep(of->queue(), {.jobs = 1, .took = took, .work = 1});
    FinishJob(std::move(popped_.batch.front()), absl::OkStatus());
  };
  run(model, seconds(2));
  run(greedy, seconds(600));
  FakeReply held, a, b;
  ASSERT_TRUE(Submit(idle, held).ok());
  ASSERT_TRUE(Submit(greedy, a).ok());
  ASSERT_TRUE(Submit(model, b).ok());
  // With a third of the only worker, instead of half of it, six seconds would be needed.
  EXPECT_DOUBLE_EQ(scheduler_.load(model->queue()).expected_wait, 4);
}

TEST_F(SchedulerHoldTest, UseIsTheLastJobOrStep) {
  const auto model = MakeModel("m");
  const TimePoint made = clock_.Now();
  clock_.Advance(seconds(5));
  EXPECT_EQ(scheduler_.use(model->queue()).last_used, made);
  EXPECT_FALSE(scheduler_.use(model->queue()).busy);
  FakeReply reply;
  ASSERT_TRUE(Submit(model, reply).ok());
  EXPECT_TRUE(scheduler_.use(model->queue()).busy);
  EXPECT_EQ(scheduler_.use(model->queue()).last_used, clock_.Now());
  ASSERT_TRUE(scheduler_.PopBatch(popped_));
  EXPECT_TRUE(scheduler_.use(model->queue()).busy);
  clock_.Advance(seconds(5));
  Run(std::move(popped_.batch));
  EXPECT_FALSE(scheduler_.use(model->queue()).busy);
  EXPECT_EQ(scheduler_.use(model->queue()).last_used, clock_.Now());
}

TEST_F(SchedulerHoldTest, LoadedModelChecksWhatWaitedForIt) {
  const auto idle = MakeIdle("idle", {.max_batch = 3});
  FakeReply good, bad, checked;
  std::vector<std::string> ran;
  ASSERT_TRUE(idle->model().Validate({}).ok());
  std::vector<std::unique_ptr<Job>> jobs;
  for (auto& [reply, name] :
       {std::pair(&bad, "bad"), std::pair(&good, "good"), std::pair(&checked, "bad but checked")}) {
    jobs.push_back(Named(MakeJob(idle, *reply), name));
  }
  for (auto& job : jobs) job->checked_by = &idle->model();
  Load(*idle, {.validate =
                   [](const models::Input& input) {
                     return std::get<models::SynthesizeInput>(input).text.starts_with("bad")
                                ? absl::InvalidArgumentError("text: bad")
                                : absl::OkStatus();
                   },
               .prepare = [&](models::Request& request) { ran.push_back(NameOf(request)); }});
  jobs.back()->checked_by = &idle->model();
  for (auto& job : jobs) ASSERT_TRUE(scheduler_.Submit(job).ok());
  ASSERT_TRUE(scheduler_.PopBatch(popped_));
  Run(std::move(popped_.batch));
  EXPECT_THAT(ran, ElementsAre("good", "bad but checked"));
  EXPECT_EQ(good.status(), absl::OkStatus());
  EXPECT_EQ(checked.status(), absl::OkStatus());
  EXPECT_EQ(bad.status(), absl::InvalidArgumentError("text: bad"));
  EXPECT_FALSE(scheduler_.use(idle->queue()).busy);
}

TEST_F(SchedulerHoldTest, BatchOfWhichNothingIsValidRunsNothing) {
  const auto idle = MakeIdle("idle");
  FakeReply bad;
  ASSERT_TRUE(Submit(idle, bad).ok());
  Load(*idle, {.validate = [](const auto&) { return absl::InvalidArgumentError("text: bad"); },
               .prepare = [](models::Request&) { ADD_FAILURE(); }});
  ASSERT_TRUE(scheduler_.PopBatch(popped_));
  Run(std::move(popped_.batch));
  EXPECT_EQ(bad.status(), absl::InvalidArgumentError("text: bad"));
  EXPECT_FALSE(scheduler_.use(idle->queue()).busy);
}

}  // namespace
}  // namespace millrace::server
