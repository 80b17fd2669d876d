#include <chrono>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "server/scheduling/scheduler.h"
#include "tests/unit/server/scheduling/fixture.h"

namespace millrace::server {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using ::testing::ElementsAre;
using testing::FakeReply;

constexpr microseconds kLinger = milliseconds(10);

// A clock for one thread: a wait runs what the test lets happen meanwhile, which may move the time
// and notify; without a notification the wait ends at its deadline.
class ScriptedClock final : public Clock {
 public:
  TimePoint Now() const override { return now; }
  bool WaitUntil(CondVar&, Mutex& mu, TimePoint deadline) override MILLRACE_REQUIRES(mu) {
    waits.push_back(deadline);
    mu.Unlock();
    const bool notified = meanwhile && meanwhile();
    mu.Lock();
    if (!notified) now = std::max(now, deadline);
    return notified;
  }

  TimePoint now{std::chrono::hours(1)};
  std::vector<TimePoint> waits;
  std::function<bool()> meanwhile;
};

// The same helpers as SchedulingTest, on a ScriptedClock.
class SchedulerBatchingTest : public ::testing::Test {
 protected:
  ~SchedulerBatchingTest() override { scheduler_.Close(); }

  std::shared_ptr<ServedModel> MakeModel(const std::string& name, models::BatchPolicy policy) {
    return Serve(scheduler_, metrics_, name, policy);
  }
  void Submit(const std::shared_ptr<ServedModel>& model, Reply& reply,
              TimePoint deadline = TimePoint::max()) {
    auto job = std::make_unique<Job>(models::Input(), deadline, reply, model, clock_);
    ASSERT_TRUE(scheduler_.Submit(job).ok());
  }
  std::vector<const Reply*> Pop() {
    EXPECT_TRUE(scheduler_.PopBatch(popped_));
    std::vector<const Reply*> replies;
    for (const auto& job : popped_.batch) replies.push_back(&job->reply);
    return replies;
  }

  ScriptedClock clock_;
  Metrics metrics_{BuildInfo{}};
  Scheduler scheduler_{{}, clock_};
  Scheduler::Popped popped_;
};

TEST_F(SchedulerBatchingTest, TakesNoMoreThanMaxBatch) {
  const auto model = MakeModel("m", {.max_batch = 3});
  FakeReply replies[4];
  for (FakeReply& reply : replies) Submit(model, reply);
  EXPECT_THAT(Pop(), ElementsAre(&replies[0], &replies[1], &replies[2]));
  EXPECT_THAT(Pop(), ElementsAre(&replies[3]));
}

TEST_F(SchedulerBatchingTest, WorkersDivideWhatIsThere) {
  Scheduler scheduler({.workers = 2}, clock_);
  const auto model = Serve(scheduler, metrics_, "m", {.max_batch = 4, .divided = true});
  FakeReply replies[12];
  const auto submit = [&](size_t from, size_t to) {
    for (size_t i = from; i < to; ++i) {
      auto job =
          std::make_unique<Job>(models::Input(), TimePoint::max(), replies[i], model, clock_);
      ASSERT_TRUE(scheduler.Submit(job).ok());
    }
  };
  const auto pop = [&] {
    Scheduler::Popped popped;
    EXPECT_TRUE(scheduler.PopBatch(popped));
    return std::move(popped.batch);
  };
  submit(0, 5);
  auto first = pop();
  EXPECT_EQ(first.size(), 3U);  // half of five
  auto second = pop();
  EXPECT_EQ(second.size(), 2U);
  // The first comes back: the other's are still at work, and count.
  scheduler.ReportStep(model->queue(), {.jobs = 3, .took = milliseconds(1)});
  for (auto& job : first) scheduler.Requeue(std::move(job), Scheduler::Wake::kNobody);
  first = pop();
  EXPECT_EQ(first.size(), 3U);
  submit(5, 12);
  EXPECT_EQ(pop().size(), 4U);  // no more than fit a batch
  scheduler.Close();
}

// A state that is kept somewhere else.
class PlacedState final : public models::RequestState {
 public:
  explicit PlacedState(const int& steps) : steps_(steps) {}
  Place place() const override { return {.where = &steps_, .steps = steps_}; }

 private:
  const int& steps_;  // the number of those that run there
};

TEST_F(SchedulerBatchingTest, TakesJobsOfOnePlaceTheOneWithTheFewestSteps) {
  const auto model = MakeModel("m", {.max_batch = 8});
  FakeReply replies[6];
  for (FakeReply& reply : replies) Submit(model, reply);
  ASSERT_EQ(Pop().size(), 6U);
  std::vector<std::unique_ptr<Job>> jobs = std::move(popped_.batch);
  int one = 1;
  int other = 0;
  for (size_t i = 0; i < jobs.size(); ++i) {
    if (i < 5) jobs[i]->request.set_state(std::make_unique<PlacedState>(i % 2 == 0 ? one : other));
    scheduler_.Requeue(std::move(jobs[i]));
  }
  FakeReply newcomer;
  Submit(model, newcomer);
  EXPECT_THAT(Pop(), ElementsAre(&replies[1], &replies[3], &replies[5], &newcomer));
  jobs = std::move(popped_.batch);
  other = 2;
  scheduler_.Requeue(std::move(jobs[0]));
  EXPECT_THAT(Pop(), ElementsAre(&replies[0], &replies[2], &replies[4]));
  EXPECT_THAT(Pop(), ElementsAre(&replies[1]));
}

TEST_F(SchedulerBatchingTest, JobsOfAnotherPlaceLetNoMoreBegin) {
  const auto model = MakeModel("m", {.max_batch = 2, .continuous = true});
  FakeReply replies[2], newcomer;
  for (FakeReply& reply : replies) Submit(model, reply);
  ASSERT_EQ(Pop().size(), 2U);
  std::vector<std::unique_ptr<Job>> jobs = std::move(popped_.batch);
  int steps[2] = {0, 1};
  for (size_t i = 0; i < jobs.size(); ++i) {
    jobs[i]->request.set_state(std::make_unique<PlacedState>(steps[i]));
    scheduler_.Requeue(std::move(jobs[i]));
  }
  Submit(model, newcomer);
  EXPECT_THAT(Pop(), ElementsAre(&replies[0]));  // two are under way
}

TEST_F(SchedulerBatchingTest, NeverMixesModels) {
  const auto one = MakeModel("one", {.max_batch = 8});
  const auto two = MakeModel("two", {.max_batch = 8});
  FakeReply a, b, c, d;
  Submit(one, a);
  Submit(two, b);
  Submit(one, c);
  Submit(two, d);
  EXPECT_THAT(Pop(), ElementsAre(&a, &c));
  EXPECT_THAT(Pop(), ElementsAre(&b, &d));
}

TEST_F(SchedulerBatchingTest, ServesTheModelThatWaitedLongest) {
  const auto one = MakeModel("one", {});
  const auto two = MakeModel("two", {});
  FakeReply older, younger, youngest;
  Submit(two, older);
  clock_.now += milliseconds(1);
  Submit(one, younger);
  clock_.now += milliseconds(1);
  Submit(two, youngest);
  EXPECT_THAT(Pop(), ElementsAre(&older));
  EXPECT_THAT(Pop(), ElementsAre(&younger));
  EXPECT_THAT(Pop(), ElementsAre(&youngest));
}

TEST_F(SchedulerBatchingTest, WithoutLingerTakesWhatIsThere) {
  const auto model = MakeModel("m", {.max_batch = 8});
  FakeReply a;
  Submit(model, a);
  EXPECT_THAT(Pop(), ElementsAre(&a));
  EXPECT_TRUE(clock_.waits.empty());
}

TEST_F(SchedulerBatchingTest, LingersForCompanyFromTheOldestOn) {
  const auto model = MakeModel("m", {.max_batch = 8, .linger = kLinger});
  FakeReply a, b;
  const TimePoint submitted = clock_.now;
  Submit(model, a);
  clock_.now += milliseconds(3);
  clock_.meanwhile = [&] {
    if (clock_.waits.size() > 1) return false;
    clock_.now += milliseconds(2);
    Submit(model, b);
    return true;
  };
  EXPECT_THAT(Pop(), ElementsAre(&a, &b));
  EXPECT_THAT(clock_.waits, ElementsAre(submitted + kLinger, submitted + kLinger));
  EXPECT_EQ(clock_.now, submitted + kLinger);
}

TEST_F(SchedulerBatchingTest, FullBatchDoesNotLinger) {
  const auto model = MakeModel("m", {.max_batch = 2, .linger = kLinger});
  FakeReply a, b, c;
  Submit(model, a);
  const TimePoint start = clock_.now;
  clock_.meanwhile = [&] {
    Submit(model, b);
    Submit(model, c);
    return true;
  };
  EXPECT_THAT(Pop(), ElementsAre(&a, &b));
  EXPECT_EQ(clock_.now, start);
  EXPECT_EQ(scheduler_.depth(model->queue()), 1U);
}

TEST_F(SchedulerBatchingTest, ReadyModelPassesOneThatLingers) {
  const auto patient = MakeModel("patient", {.max_batch = 8, .linger = kLinger});
  const auto quick = MakeModel("quick", {.max_batch = 8});
  FakeReply older, younger;
  Submit(patient, older);
  clock_.now += milliseconds(1);
  Submit(quick, younger);
  EXPECT_THAT(Pop(), ElementsAre(&younger));
  EXPECT_TRUE(clock_.waits.empty());
  EXPECT_THAT(Pop(), ElementsAre(&older));
}

TEST_F(SchedulerBatchingTest, WaitsForTheFirstOfSeveralLingers) {
  const auto slow = MakeModel("slow", {.max_batch = 8, .linger = milliseconds(50)});
  const auto fast = MakeModel("fast", {.max_batch = 8, .linger = kLinger});
  FakeReply a, b;
  const TimePoint start = clock_.now;
  Submit(slow, a);
  Submit(fast, b);
  EXPECT_THAT(Pop(), ElementsAre(&b));
  EXPECT_EQ(clock_.now, start + kLinger);
  EXPECT_THAT(Pop(), ElementsAre(&a));
  EXPECT_EQ(clock_.now, start + milliseconds(50));
}

TEST_F(SchedulerBatchingTest, JobThatIsRemovedDuringItsLingerIsNotHandedOut) {
  const auto model = MakeModel("m", {.max_batch = 8, .linger = kLinger});
  const auto other = MakeModel("other", {.max_batch = 8, .linger = kLinger});
  FakeReply a, b;
  Submit(model, a);
  clock_.meanwhile = [&] {
    if (clock_.waits.size() > 1) return false;
    EXPECT_NE(scheduler_.Remove(model->queue(), a), nullptr);
    Submit(other, b);
    return true;
  };
  EXPECT_THAT(Pop(), ElementsAre(&b));
}

TEST_F(SchedulerBatchingTest, DeadlineInsideTheLingerDropsTheJob) {
  const auto model = MakeModel("m", {.max_batch = 8, .linger = kLinger});
  FakeReply hasty, patient;
  Submit(model, hasty, clock_.now + milliseconds(5));
  Submit(model, patient);
  EXPECT_THAT(Pop(), ElementsAre(&patient));
  ASSERT_EQ(popped_.dropped.size(), 1U);
  EXPECT_EQ(&popped_.dropped.front()->reply, &hasty);
}

}  // namespace
}  // namespace millrace::server
