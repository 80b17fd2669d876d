#include "server/scheduling/thread_executor.h"

#include <atomic>
#include <barrier>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "mps_runtime/base/joining_thread.h"
#include "tests/fakes/fake_device.h"
#include "tests/unit/server/scheduling/fixture.h"

namespace millrace::server {
namespace {

using models::Request;
using testing::FakeDevice;
using testing::FakeReply;
using ::testing::HasSubstr;
using testing::ModelHooks;

// A scheduler with workers of its own, on the real clock.
class ThreadExecutorTest : public ::testing::Test {
 protected:
  std::shared_ptr<ServedModel> MakeModel(const std::string& name, models::BatchPolicy policy = {},
                                         ModelHooks hooks = {}, size_t warm_up_inputs = 0) {
    return Serve(scheduler_, metrics_, name, policy, std::move(hooks), warm_up_inputs);
  }
  absl::Status Start(int workers, std::vector<std::shared_ptr<ServedModel>> models = {}) {
    executor_ = std::make_unique<ThreadExecutor>(workers, device_, scheduler_);
    return executor_->Start(models);
  }
  void Submit(const std::shared_ptr<ServedModel>& model, Reply& reply,
              TimePoint deadline = TimePoint::max()) {
    auto job = std::make_unique<Job>(models::Input(), deadline, reply, model, Clock::Real());
    ASSERT_TRUE(scheduler_.Submit(job).ok());
  }
  void Stop() {
    scheduler_.Close();
    executor_->Join();
  }

  FakeDevice device_;
  Metrics metrics_{BuildInfo{}};
  Scheduler scheduler_{{.default_queue_size = 100'000, .workers = 16}};
  std::unique_ptr<ThreadExecutor> executor_;
};

TEST_F(ThreadExecutorTest, EveryWorkerWarmsUpOnEveryModelBeforeStartReturns) {
  device_.computes_on_workers = false;
  std::mutex mu;
  std::multiset<std::thread::id> threads;
  const auto note = [&](Request&) {
    const std::lock_guard lock(mu);
    threads.insert(std::this_thread::get_id());
  };
  const auto one = MakeModel("one", {}, {.forward = note}, 2);
  const auto two = MakeModel("two", {}, {.forward = note}, 1);
  ASSERT_TRUE(Start(4, {one, two}).ok());
  {
    const std::lock_guard lock(mu);
    EXPECT_EQ(threads.size(), 4U * 3U);
    EXPECT_EQ(std::set(threads.begin(), threads.end()).size(), 4U);
    for (const std::thread::id id : threads) {
      EXPECT_NE(id, std::this_thread::get_id());
      EXPECT_EQ(threads.count(id), 3U);
    }
  }
  EXPECT_EQ(device_.alive(), 4);
  Stop();
  EXPECT_EQ(device_.alive(), 0);
  EXPECT_EQ(device_.misused(), 0);
}

TEST_F(ThreadExecutorTest, WorkersRunOneForwardOfAModelWhereShapesAreCompiledForAll) {
  device_.computes_on_workers = false;
  std::atomic<int> forwards{0};
  device_.shares_compiled_shapes = true;
  const auto one = MakeModel("one", {}, {.forward = [&](Request&) { ++forwards; }}, 5);
  const auto two = MakeModel("two", {}, {.forward = [&](Request&) { ++forwards; }}, 3);
  ASSERT_TRUE(Start(4, {one, two}).ok());
  EXPECT_EQ(forwards, 4 * 2);
  Stop();
}

TEST_F(ThreadExecutorTest, WorkerThatGetsNoStreamFailsTheStartAndLeavesNoThread) {
  device_.max_workers = 3;
  const absl::Status status = Start(4, {MakeModel("m", {}, {}, 1)});
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(MessageOf(status), HasSubstr("all streams are leased"));
  EXPECT_EQ(device_.alive(), 0);
}

TEST_F(ThreadExecutorTest, OnTheProcessorTheMainThreadsWarmUpServesAllWorkers) {
  ASSERT_TRUE(device_.computes_on_workers);
  std::atomic<int> runs{0};
  const auto model = MakeModel("m", {}, {.forward = [&](Request&) { ++runs; }}, 2);
  ASSERT_TRUE(Start(2, {model}).ok());
  EXPECT_EQ(runs.load(), 0);
  FakeReply reply;
  Submit(model, reply);
  EXPECT_TRUE(reply.Wait().ok());
  EXPECT_EQ(runs.load(), 1);
  Stop();
}

TEST_F(ThreadExecutorTest, FailingWarmUpFailsTheStartAndLeavesNoThread) {
  device_.computes_on_workers = false;
  std::atomic<int> runs{0};
  const auto model = MakeModel("broken", {},
                               {.forward =
                                    [&](Request&) {
                                      if (runs.fetch_add(1) == 2) throw std::runtime_error("boom");
                                    }},
                               1);
  const absl::Status status = Start(4, {model});
  EXPECT_EQ(MessageOf(status), "warm-up of model 'broken' failed: boom");
  EXPECT_EQ(runs.load(), 4);  // the others finished theirs
  EXPECT_EQ(device_.alive(), 0);
}

TEST_F(ThreadExecutorTest, JoinWaitsForTheStepThatRuns) {
  std::barrier reached(2);
  std::barrier release(2);
  const auto model = MakeModel("m", {}, {.forward = [&](Request&) {
                                 reached.arrive_and_wait();
                                 release.arrive_and_wait();
                               }});
  ASSERT_TRUE(Start(2).ok());
  FakeReply reply;
  Submit(model, reply);
  reached.arrive_and_wait();
  scheduler_.Close();
  EXPECT_FALSE(reply.status());
  const JoiningThread releaser([&] { release.arrive_and_wait(); });
  executor_->Join();
  ASSERT_TRUE(reply.status());
  EXPECT_TRUE(reply.status()->ok());
  executor_->Join();  // idempotent
  EXPECT_EQ(device_.alive(), 0);
}

TEST_F(ThreadExecutorTest, EndsWhatExpiredOrWasCancelledInTheQueueWithoutTheModel) {
  std::barrier reached(2);
  std::barrier release(2);
  std::atomic<int> forwards{0};
  const auto model = MakeModel("m", {}, {.forward = [&](Request&) {
                                 if (forwards.fetch_add(1) != 0) return;
                                 reached.arrive_and_wait();
                                 release.arrive_and_wait();
                               }});
  ASSERT_TRUE(Start(1).ok());
  FakeReply running, cancelled, expired, both;
  Submit(model, running);
  reached.arrive_and_wait();
  // Each into an empty queue of its own: behind another one it would be refused for its deadline.
  const TimePoint past = Clock::Real().Now();
  Submit(model, cancelled);
  cancelled.Cancel();
  const ModelHooks never = {.forward = [&](Request&) { ++forwards; }};
  Submit(MakeModel("expired", {}, never), expired, past);
  Submit(MakeModel("both", {}, never), both, past);
  both.Cancel();
  release.arrive_and_wait();
  EXPECT_EQ(cancelled.Wait().code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(expired.Wait().code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(both.Wait().code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_TRUE(running.Wait().ok());
  Stop();
  EXPECT_EQ(forwards.load(), 1);
}

TEST_F(ThreadExecutorTest, UnloadedModelLivesUntilItsLastRequest) {
  std::barrier reached(2);
  std::barrier release(2);
  std::atomic<bool> destroyed{false};
  auto model = MakeModel("m", {},
                         {.forward =
                              [&](Request&) {
                                reached.arrive_and_wait();
                                release.arrive_and_wait();
                                EXPECT_FALSE(destroyed);
                              },
                          .destroyed = [&] { destroyed = true; }});
  ASSERT_TRUE(Start(1).ok());
  FakeReply running, waiting;
  Submit(model, running);
  reached.arrive_and_wait();
  Submit(model, waiting);
  model.reset();  // the unload
  release.arrive_and_wait();
  EXPECT_TRUE(running.Wait().ok());
  EXPECT_FALSE(destroyed);
  reached.arrive_and_wait();
  release.arrive_and_wait();
  EXPECT_TRUE(waiting.Wait().ok());
  Stop();
  EXPECT_TRUE(destroyed);
}

// Sixteen workers, sixteen submitters, three models, requests of several steps, some that fail,
// some that are cancelled: each ends once, with the outcome that is its own.
TEST_F(ThreadExecutorTest, EveryRequestEndsExactlyOnceUnderLoad) {
  constexpr int kSubmitters = 16;
  constexpr int kEach = 120;
  const auto steps = [](Request& request) {
    struct Left final : models::RequestState {
      int steps = 3;
    };
    if (request.state() == nullptr) request.set_state(std::make_unique<Left>());
    if (--static_cast<Left&>(*request.state()).steps == 0) request.Finish(absl::OkStatus());
  };
  const std::vector<std::shared_ptr<ServedModel>> models = {
      MakeModel("short", {.max_batch = 8}),
      MakeModel("long", {.max_batch = 4, .linger = std::chrono::microseconds(50)},
                {.complete = steps}),
      MakeModel("poisoned", {.max_batch = 8}, {.forward = [](Request& request) {
                  if (std::holds_alternative<models::TranslateInput>(request.input()))
                    throw std::runtime_error("poison");
                }})};
  ASSERT_TRUE(Start(16, models).ok());

  struct Call {
    FakeReply reply;
    bool poison = false;
    bool cancelled = false;
  };
  std::vector<std::vector<Call>> calls(kSubmitters);
  for (auto& of_one : calls) of_one = std::vector<Call>(kEach);
  std::barrier start(kSubmitters);
  {
    std::vector<JoiningThread> submitters;
    submitters.reserve(kSubmitters);
    for (int s = 0; s < kSubmitters; ++s) {
      submitters.emplace_back([&, s] {
        start.arrive_and_wait();
        for (int i = 0; i < kEach; ++i) {
          Call& call = calls[s][i];
          const auto& model = models[i % models.size()];
          call.poison = i % models.size() == 2 && i % 5 == 0;
          call.cancelled = i % 7 == 0;
          models::Input input;
          if (call.poison) input = models::TranslateInput{};
          auto job = std::make_unique<Job>(std::move(input), TimePoint::max(), call.reply, model,
                                           Clock::Real());
          ASSERT_TRUE(scheduler_.Submit(job).ok());
          if (!call.cancelled) continue;
          call.reply.Cancel();
          if (auto waiting = scheduler_.Remove(model->queue(), call.reply))
            FinishJob(std::move(waiting), absl::CancelledError("by the test"));
        }
      });
    }
  }
  for (auto& of_one : calls) {
    for (Call& call : of_one) static_cast<void>(call.reply.Wait());
  }
  Stop();
  for (auto& of_one : calls) {
    for (Call& call : of_one) {
      ASSERT_EQ(call.reply.finishes(), 1);
      const absl::StatusCode code = call.reply.status()->code();
      if (call.cancelled && code == absl::StatusCode::kCancelled) continue;
      EXPECT_EQ(code, call.poison ? absl::StatusCode::kInternal : absl::StatusCode::kOk);
    }
  }
  EXPECT_EQ(device_.misused(), 0);
}

}  // namespace
}  // namespace millrace::server
