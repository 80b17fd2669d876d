#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "tests/unit/server/executors/executor_pool_fixture.h"

namespace millrace::server {
namespace {

using ::testing::ElementsAre;
using testing::FakeExecutor;

class ExecutorStepsTest : public testing::ExecutorPoolTest {};

TEST_F(ExecutorStepsTest, RunsStepsInTheExecutor) {
  StartWithModel();
  EXPECT_EQ(model_->info().name, "voice");
  EXPECT_EQ(model_->info().speech().sample_rate, 8000);
  Sink one;
  Sink two;
  models::Request first(Say("abc"), TimePoint::max(), one);
  models::Request second(Say("de"), TimePoint::max(), two);
  RunOnce({&first, &second});
  EXPECT_THAT(one.heard, ElementsAre("a"));
  EXPECT_EQ(first.work_left(), 2);
  RunToEnd({&first, &second});
  EXPECT_THAT(one.heard, ElementsAre("a", "b", "c"));
  EXPECT_THAT(two.heard, ElementsAre("d", "e"));
  EXPECT_EQ(first.outcome(), absl::OkStatus());
  EXPECT_EQ(launcher_.started(), 1);
  EXPECT_EQ(pool_->stats().serving, 1);
}

TEST_F(ExecutorStepsTest, SpreadsRequestsOverSeveralExecutorsAndKeepsThemThere) {
  std::atomic<int> on_other{0};
  Mutex mu;
  std::map<std::string, int> executor_of;
  in_forward_ = [&](FakeExecutor& executor, models::Request& request) {
    const MutexLock lock(mu);
    const auto [at, is_new] = executor_of.emplace(TextOf(request), executor.number());
    if (at->second != executor.number()) ++on_other;
  };
  StartWithModel(2);
  Sink sink;
  std::deque<models::Request> requests;
  std::vector<models::Request*> all;
  for (const char* text : {"abc", "defg", "hi"}) {
    all.push_back(&requests.emplace_back(Say(text), TimePoint::max(), sink));
    RunOnce({all.back()});
  }
  EXPECT_NE(all[0]->place().where, nullptr);
  EXPECT_NE(all[0]->place().where, all[1]->place().where);
  RunToEnd(all);
  EXPECT_EQ(sink.heard.size(), 9U);
  EXPECT_EQ(on_other, 0);
  const MutexLock lock(mu);
  // Each waits between its steps while the next one begins.
  EXPECT_NE(executor_of["abc"], executor_of["defg"]);
}

TEST_F(ExecutorStepsTest, BeginsRequestsWhereThoseOfTheirStepAre) {
  Mutex mu;
  std::map<std::string, int> executor_of;
  in_forward_ = [&](FakeExecutor& executor, models::Request& request) {
    const MutexLock lock(mu);
    executor_of.emplace(TextOf(request), executor.number());
  };
  StartWithModel(2);
  Sink sink;
  models::Request first(Say("abc"), TimePoint::max(), sink);
  models::Request second(Say("def"), TimePoint::max(), sink);
  RunOnce({&first});
  RunOnce({&first, &second});
  EXPECT_EQ(first.place().where, second.place().where);
  EXPECT_EQ(first.place().steps, 0);
  RunToEnd({&first, &second});
  const MutexLock lock(mu);
  EXPECT_EQ(executor_of["abc"], executor_of["def"]);
}

TEST_F(ExecutorStepsTest, PassesOnWhyAnInputIsRefused) {
  validate_ = [](const models::Input&) { return absl::InvalidArgumentError("text: too odd"); };
  StartWithModel();
  EXPECT_EQ(RunAlone("abc"), absl::InvalidArgumentError("text: too odd"));
}

TEST_F(ExecutorStepsTest, FailsOnlyTheRequestThatThrows) {
  in_forward_ = [](FakeExecutor&, models::Request& request) {
    if (TextOf(request) == "bad") throw std::runtime_error("no memory for this");
  };
  StartWithModel();
  Sink sink;
  models::Request good(Say("ab"), TimePoint::max(), sink);
  models::Request bad(Say("bad"), TimePoint::max(), sink);
  RunToEnd({&good, &bad});
  EXPECT_EQ(good.outcome(), absl::OkStatus());
  EXPECT_EQ(bad.outcome(),
            absl::InternalError("model 'voice' failed on this request: no memory for this"));
  EXPECT_EQ(launcher_.started(), 1);
}

TEST_F(ExecutorStepsTest, TellsTheExecutorThatARequestIsCancelled) {
  std::atomic<bool> begun{false};
  in_forward_ = [&](FakeExecutor&, models::Request& request) {
    begun = true;
    while (!request.ShouldStop()) std::this_thread::yield();
  };
  StartWithModel();
  Sink sink;
  models::Request request(Say("abc"), TimePoint::max(), sink);
  std::thread client([&] {
    while (!begun) std::this_thread::yield();
    sink.Cancel();
  });
  RunOnce({&request});
  client.join();
  EXPECT_FALSE(request.outcome().has_value());
  EXPECT_TRUE(request.ShouldStop());
}

TEST_F(ExecutorStepsTest, TakesNoOutputsOfAnotherTask) {
  StartWithModel();
  const absl::Status status = RunAlone("wrong task");
  EXPECT_EQ(status, absl::InternalError("the request ended two executors of model 'voice' (it "
                                        "returned outputs of another task); crash executor-2"));
  EXPECT_EQ(pool_->stats().deaths[static_cast<size_t>(DeathCause::kProtocol)], 2U);
  EXPECT_EQ(RunAlone("abc"), absl::OkStatus());
}

}  // namespace
}  // namespace millrace::server
