#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <string>

#include "models/core/strings.h"
#include "server/executors/remote_model.h"
#include "tests/unit/server/executors/executor_pool_fixture.h"

namespace millrace::server {
namespace {

using ::testing::ElementsAre;
using testing::FakeExecutor;
using ::testing::HasSubstr;

class ExecutorReplayTest : public testing::ExecutorPoolTest {};

TEST_F(ExecutorReplayTest, GoesOnBehindWhatWasDelivered) {
  in_forward_ = [](FakeExecutor& executor, models::Request& request) {
    if (executor.number() == 1 && SaidOf(request) == 3) executor.Die(kKill);
  };
  StartWithModel();
  Sink sink;
  models::Request request(Say("abcdef"), TimePoint::max(), sink);
  RunToEnd({&request});
  EXPECT_EQ(request.outcome(), absl::OkStatus());
  EXPECT_THAT(sink.heard, ElementsAre("a", "b", "c", "d", "e", "f"));
  const ExecutorPool::Stats stats = pool_->stats();
  EXPECT_EQ(stats.deaths[static_cast<size_t>(DeathCause::kKilled)], 1U);
  EXPECT_EQ(stats.restarts, 1U);
  EXPECT_EQ(stats.replays, 1U);
  EXPECT_EQ(stats.serving, 1);
  EXPECT_EQ(models_alive_, 1);
}

TEST_F(ExecutorReplayTest, SpeaksNoSentenceAgainThatWasDelivered) {
  sentences_ = true;
  std::atomic<int> steps{0};
  in_forward_ = [&](FakeExecutor& executor, models::Request& request) {
    ++steps;
    if (executor.number() == 1 && SaidOf(request) == 3) executor.Die(kKill);
  };
  StartWithModel();
  Sink sink;
  models::Request request(Say("abcdef"), TimePoint::max(), sink);
  RunToEnd({&request});
  EXPECT_EQ(request.outcome(), absl::OkStatus());
  EXPECT_THAT(sink.heard, ElementsAre("a", "b", "c", "d", "e", "f"));
  EXPECT_EQ(steps, 7) << "one for each letter, and the one that died";
}

TEST_F(ExecutorReplayTest, EndsARequestThatWouldGoOnWithSomethingElse) {
  in_forward_ = [this](FakeExecutor& executor, models::Request& request) {
    if (executor.number() != 1 || SaidOf(request) != 3) return;
    different_ = true;
    executor.Die(kSegfault);
  };
  StartWithModel();
  Sink sink;
  models::Request request(Say("abcdef"), TimePoint::max(), sink);
  RunToEnd({&request});
  EXPECT_TRUE(absl::IsInternal(*request.outcome()));
  EXPECT_THAT(std::string(Message(*request.outcome())), HasSubstr("other results"));
  EXPECT_THAT(sink.heard, ElementsAre("a", "b", "c"));
}

TEST_F(ExecutorReplayTest, ConvictsTheRequestThatEndsTwoExecutorsAndNoOther) {
  in_forward_ = [](FakeExecutor& executor, models::Request& request) {
    if (TextOf(request) == "poison" && SaidOf(request) == 1) executor.Die(kSegfault);
  };
  StartWithModel();
  Sink sinks[3];
  models::Request before(Say("abcdef"), TimePoint::max(), sinks[0]);
  models::Request poison(Say("poison"), TimePoint::max(), sinks[1]);
  models::Request after(Say("ghi"), TimePoint::max(), sinks[2]);
  RunToEnd({&before, &poison, &after});
  EXPECT_EQ(before.outcome(), absl::OkStatus());
  EXPECT_EQ(after.outcome(), absl::OkStatus());
  EXPECT_THAT(sinks[0].heard, ElementsAre("a", "b", "c", "d", "e", "f"));
  EXPECT_THAT(sinks[2].heard, ElementsAre("g", "h", "i"));
  EXPECT_EQ(poison.outcome(),
            absl::InternalError("the request ended two executors of model 'voice' (signal "
                                "SIGSEGV); crash executor-2"));
  EXPECT_EQ(launcher_.started(), 3);
  EXPECT_EQ(pool_->stats().convicted, 1U);

  // Its copies are refused, and nothing else.
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(model_->Validate(Say("poison")),
              absl::InvalidArgumentError("text: an equal request ended two executors (crash "
                                         "executor-2); it is refused for an hour"));
  }
  EXPECT_TRUE(model_->Validate(Say("poisons")).ok());
  clock_.Advance(std::chrono::minutes(61));
  EXPECT_TRUE(model_->Validate(Say("poison")).ok());
}

TEST_F(ExecutorReplayTest, RunsSuspectsAlone) {
  Mutex mu;
  std::set<std::string> in_step;
  size_t most_in_step = 0;
  in_forward_ = [&](FakeExecutor& executor, models::Request& request) {
    if (executor.number() == 1 && SaidOf(request) == 1) executor.Die(kSegfault);
    const MutexLock lock(mu);
    if (executor.number() == 1) return;
    in_step.insert(TextOf(request));
    most_in_step = std::max(most_in_step, in_step.size());
  };
  in_complete_ = [&](models::Request& request) {
    const MutexLock lock(mu);
    in_step.erase(TextOf(request));
  };
  StartWithModel();
  Sink sink;
  models::Request one(Say("abc"), TimePoint::max(), sink);
  models::Request two(Say("def"), TimePoint::max(), sink);
  RunToEnd({&one, &two});
  EXPECT_EQ(one.outcome(), absl::OkStatus());
  EXPECT_EQ(two.outcome(), absl::OkStatus());
  EXPECT_EQ(sink.heard.size(), 6U);
  const MutexLock lock(mu);
  EXPECT_EQ(most_in_step, 1U);
}

TEST_F(ExecutorReplayTest, BlamesNoRequestForAKill) {
  in_forward_ = [](FakeExecutor& executor, models::Request& request) {
    if (TextOf(request) == "heavy") executor.Die(kKill);
  };
  StartWithModel();
  const absl::Status status = RunAlone("heavy");
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_EQ(Message(status),
            "the executor of the request died (signal SIGKILL, executor-9), and it was run again "
            "often enough");
  EXPECT_EQ(pool_->stats().convicted, 0U);
  EXPECT_TRUE(model_->Validate(Say("heavy")).ok());
  EXPECT_EQ(RunAlone("light"), absl::OkStatus());
}

TEST_F(ExecutorReplayTest, EndsARequestSoonerWhoseExecutorsAreOutOfMemory) {
  in_forward_ = [](FakeExecutor& executor, models::Request& request) {
    if (TextOf(request) == "heavy") executor.Die(kOutOfMemory);
  };
  StartWithModel();
  EXPECT_EQ(RunAlone("heavy"),
            absl::UnavailableError("the executor of the request died (the system was out of "
                                   "memory, executor-3), and it was run again often enough"));
}

TEST_F(ExecutorReplayTest, CountsKillsOnlyWhileARequestGetsNoFurther) {
  // Executor n is killed once it has said n letters.
  in_forward_ = [](FakeExecutor& executor, models::Request& request) {
    if (SaidOf(request) == static_cast<size_t>(executor.number())) executor.Die(kKill);
  };
  StartWithModel();
  EXPECT_EQ(RunAlone("abcdefghijkl"), absl::OkStatus());
  EXPECT_EQ(launcher_.started(), 12);
}

TEST_F(ExecutorReplayTest, CountsKillsAndWantOfMemoryApart) {
  constexpr std::string_view deaths = "kkokkok";  // Each letter ends the executor of its number.
  in_forward_ = [&](FakeExecutor& executor, models::Request&) {
    const auto number = static_cast<size_t>(executor.number());
    if (number <= deaths.size()) executor.Die(deaths[number - 1] == 'k' ? kKill : kOutOfMemory);
  };
  StartWithModel();
  EXPECT_EQ(RunAlone("abc"), absl::OkStatus());
}

TEST_F(ExecutorReplayTest, CountsNoReplayOfARequestThatWasInNoStep) {
  std::atomic<bool> die{false};
  in_forward_ = [&](FakeExecutor& executor, models::Request& request) {
    if (TextOf(request) == "dies" && die.exchange(false)) executor.Die(kKill);
  };
  StartWithModel();
  Sink sink;
  models::Request patient(Say("abc"), TimePoint::max(), sink);
  for (int i = 0; i <= RemoteModel::kMostReplays; ++i) {
    RunOnce({&patient});
    die = true;
    EXPECT_EQ(RunAlone("dies"), absl::OkStatus());
  }
  RunToEnd({&patient});
  EXPECT_EQ(patient.outcome(), absl::OkStatus());
  EXPECT_THAT(sink.heard, ElementsAre("a", "b", "c"));
}

TEST_F(ExecutorReplayTest, DoesNotRunARequestAgainWhoseTimeIsOver) {
  in_forward_ = [](FakeExecutor& executor, models::Request&) { executor.Die(kKill); };
  StartWithModel();
  Sink sink;
  models::Request request(Say("abc"), TimePoint::max(), sink);
  RunOnce({&request});
  sink.Cancel();
  RunOnce({&request});
  EXPECT_TRUE(request.ShouldStop());
  EXPECT_LE(launcher_.started(), 3);
}

}  // namespace
}  // namespace millrace::server
