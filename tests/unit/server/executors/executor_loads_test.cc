#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <future>
#include <latch>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "mps_runtime/base/joining_thread.h"
#include "tests/unit/server/executors/executor_pool_fixture.h"

namespace millrace::server {
namespace {

using testing::FakeExecutor;

class ExecutorLoadsTest : public testing::ExecutorPoolTest {};

TEST_F(ExecutorLoadsTest, ALoadGoesOnInTheSuccessorOfAnExecutorThatIsKilled) {
  on_load_ = [&](FakeExecutor& executor) {
    if (++loads_ == 1) executor.Die(kKill);
    return absl::OkStatus();
  };
  StartWithModel();
  EXPECT_EQ(RunAlone("abc"), absl::OkStatus());
  EXPECT_EQ(launcher_.started(), 2);
}

TEST_F(ExecutorLoadsTest, ASuccessorServesBeforeItLoadsANewModel) {
  std::promise<void> release;
  std::atomic<int> voices{0};
  std::atomic<int> new_loads{0};
  on_load_ = [&, released = release.get_future().share()](FakeExecutor& executor) {
    // Each executor loads the model that serves first.
    if (voices < executor.number()) {
      ++voices;
    } else if (++new_loads == 1) {
      executor.Die(kKill);
    } else {
      released.wait();
    }
    return absl::OkStatus();
  };
  StartWithModel();
  absl::Status loaded;
  std::unique_ptr<models::Model> added;
  {
    const JoiningThread loader([&] {
      auto model = pool_->Load("new", 1);
      loaded = model.status();
      if (model.ok()) added = *std::move(model);
    });
    while (new_loads < 2) std::this_thread::yield();
    EXPECT_EQ(pool_->stats().serving, 1);
    EXPECT_EQ(RunAlone("abc"), absl::OkStatus());
    release.set_value();
  }
  EXPECT_EQ(loaded, absl::OkStatus());
  EXPECT_EQ(launcher_.started(), 2);
  std::swap(model_, added);
  EXPECT_EQ(RunAlone("abc"), absl::OkStatus());
}

TEST_F(ExecutorLoadsTest, FreesAModelInTheExecutorWhenTheFrontUnloadsIt) {
  StartWithModel();
  EXPECT_EQ(RunAlone("abc"), absl::OkStatus());
  model_.reset();
  // The executor reads its orders one after the other.
  auto other = pool_->Load("other", 1);
  ASSERT_TRUE(other.ok());
  EXPECT_EQ(models_alive_, 1);
}

TEST_F(ExecutorLoadsTest, SaysWhyAModelCouldNotBeLoaded) {
  on_load_ = [](FakeExecutor&) { return absl::InvalidArgumentError("weights: too short"); };
  ASSERT_TRUE(Start().ok());
  EXPECT_EQ(pool_->Load("voice", 1).status(), absl::InvalidArgumentError("weights: too short"));
  EXPECT_EQ(pool_->stats().serving, 1);
}

TEST_F(ExecutorLoadsTest, TriesANewModelOnceMoreWhoseExecutorDied) {
  on_load_ = [&](FakeExecutor& executor) {
    if (++loads_ == 2) executor.Die(kSegfault);
    return absl::OkStatus();
  };
  StartWithModel();
  auto model = pool_->Load("new", 1);
  EXPECT_EQ(model.status(), absl::OkStatus());
  EXPECT_EQ(launcher_.started(), 2);
}

TEST_F(ExecutorLoadsTest, GivesUpANewModelThatEndsTwoExecutorsAtOnce) {
  const auto crashes = [this] {
    return pool_->stats().deaths.at(static_cast<size_t>(DeathCause::kCrash));
  };
  on_load_ = [crashes, loads = std::make_shared<std::array<std::atomic<int>, 16>>(),
              both = std::make_shared<std::latch>(2)](FakeExecutor& executor) {
    // The first model is the one that serves.
    if (++loads->at(static_cast<size_t>(executor.number())) == 1) return absl::OkStatus();
    if (executor.number() <= 2) {
      both->arrive_and_wait();
      executor.Die(kSegfault);
    }
    while (executor.number() > 2 && crashes() < 2) std::this_thread::yield();
    return absl::OkStatus();
  };
  StartWithModel(2);
  EXPECT_EQ(pool_->Load("bad", 1).status(),
            absl::InternalError("an executor died while it loaded model 'bad': signal SIGSEGV"));
  EXPECT_EQ(RunAlone("abc"), absl::OkStatus());
}

TEST_F(ExecutorLoadsTest, GivesUpAModelThatEndsTwoExecutorsInALoadAndNoOther) {
  on_load_ = [&](FakeExecutor& executor) {
    const int load = ++loads_;
    if (load == 2 || load == 4) executor.Die(kSegfault);
    return absl::OkStatus();
  };
  StartWithModel();
  const absl::Status status = pool_->Load("bad", 1).status();
  EXPECT_EQ(status,
            absl::InternalError("an executor died while it loaded model 'bad': signal SIGSEGV"));
  EXPECT_EQ(RunAlone("abc"), absl::OkStatus());
  EXPECT_EQ(launcher_.started(), 3);
}

TEST_F(ExecutorLoadsTest, AnExecutorTriesAgainToLoadWhatItCouldNot) {
  on_load_ = [&](FakeExecutor&) {
    return ++loads_ == 2 ? absl::ResourceExhaustedError("no descriptors") : absl::OkStatus();
  };
  std::atomic<bool> died{false};
  in_forward_ = [&](FakeExecutor& executor, models::Request&) {
    if (!died.exchange(true)) executor.Die(kKill);
  };
  StartWithModel();
  EXPECT_EQ(RunAlone("abc"),
            absl::InternalError("model 'voice' could not be loaded again after an executor died: "
                                "no descriptors"));
  // The thread that listens to the executor may not have looked at the clock yet.
  while (!RunAlone("abc").ok()) clock_.Advance(std::chrono::milliseconds(1));
  EXPECT_EQ(launcher_.started(), 2);
}

TEST_F(ExecutorLoadsTest, ASuccessorTriesToLoadWhatItsPredecessorCouldNot) {
  std::atomic<FakeExecutor*> second{nullptr};
  on_load_ = [&](FakeExecutor& executor) {
    if (++loads_ != 2) return absl::OkStatus();
    second = &executor;
    return absl::ResourceExhaustedError("no descriptors");
  };
  std::atomic<bool> died{false};
  in_forward_ = [&](FakeExecutor& executor, models::Request&) {
    if (!died.exchange(true)) executor.Die(kKill);
  };
  StartWithModel();
  EXPECT_EQ(RunAlone("abc").code(), absl::StatusCode::kInternal);
  second.load()->Kill();
  while (!RunAlone("abc").ok()) std::this_thread::yield();
  EXPECT_EQ(launcher_.started(), 3);
}

TEST_F(ExecutorLoadsTest, GivesUpALoadedModelThatEndsTwoExecutorsInALoad) {
  on_load_ = [&](FakeExecutor& executor) {
    if (++loads_ == 2 || loads_ == 4 || loads_ == 5) executor.Die(kSegfault);
    return absl::OkStatus();
  };
  std::atomic<int> deaths{0};
  in_forward_ = [&](FakeExecutor& executor, models::Request&) {
    if (++deaths <= 2) executor.Die(kKill);
  };
  StartWithModel();
  Sink sink;
  models::Request request(Say("abc"), TimePoint::max(), sink);
  RunOnce({&request});  // the executors of loads 1 and 2 die, the third one has the model
  EXPECT_FALSE(request.outcome().has_value());
  RunToEnd({&request});
  EXPECT_EQ(request.outcome(),
            absl::InternalError("model 'voice' could not be loaded again after an executor died: "
                                "an executor died while it loaded model 'voice': signal SIGSEGV"));
  EXPECT_EQ(loads_, 5);
}

TEST_F(ExecutorLoadsTest, KillsAnExecutorThatFallsSilentInALoad) {
  Silence silence;
  launcher_.stand_in = [&](int number, FileDescriptor& control) {
    return number != 2
               ? nullptr
               : std::make_unique<MuteExecutor>(std::move(control), /*loads=*/false, silence);
  };
  in_forward_ = [](FakeExecutor& executor, models::Request&) {
    if (executor.number() == 1) executor.Die(kKill);
  };
  StartWithModel();
  std::thread time([&] { LetSilencePass(silence, 1); });
  EXPECT_EQ(RunAlone("abc"), absl::OkStatus());
  time.join();
  EXPECT_EQ(pool_->stats().deaths[static_cast<size_t>(DeathCause::kSilent)], 1U);
}

TEST_F(ExecutorLoadsTest, EndsRequestsOfAModelThatItsSuccessorCannotLoad) {
  on_load_ = [&](FakeExecutor&) {
    return ++loads_ == 1 ? absl::OkStatus() : absl::NotFoundError("its folder is gone");
  };
  in_forward_ = [](FakeExecutor& executor, models::Request&) { executor.Die(kKill); };
  StartWithModel();
  EXPECT_EQ(RunAlone("abc"), absl::InternalError("model 'voice' could not be loaded again after an "
                                                 "executor died: its folder is gone"));
}

TEST_F(ExecutorLoadsTest, EachLaneWarmsUpWhatIsLoadedBeforeTheFirstStep) {
  Mutex mu;
  std::vector<std::pair<std::string, std::thread::id>> forwards;
  const auto lanes_by_model = [&] {
    const MutexLock lock(mu);
    return std::set(forwards.begin(), forwards.end()).size();
  };
  testing::FakeLauncher launcher(
      [&](FakeExecutor&,
          std::string_view name) -> absl::StatusOr<std::unique_ptr<const models::Model>> {
        testing::ModelHooks hooks;
        hooks.forward = [&, name = std::string(name)](models::Request&) {
          const MutexLock lock(mu);
          forwards.emplace_back(name, std::this_thread::get_id());
        };
        return std::make_unique<testing::FakeModel>(VoiceInfo(name), hooks, /*warm_up_inputs=*/1);
      });
  launcher.computes_on_workers = false;
  config_.executors = 1;
  ExecutorPool pool({.config = config_, .lanes = 2, .version = std::string(testing::kFakeVersion)},
                    launcher, clock_);
  ASSERT_TRUE(pool.Start().ok());
  auto first = pool.Load("first", 1);
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ(lanes_by_model(), 2U);
  const auto second = pool.Load("second", 1);
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_EQ(lanes_by_model(), 4U);

  Sink sink;
  models::Request request(Say("a"), TimePoint::max(), sink);
  models::FakeWorkerContext context;
  models::Request* const requests[] = {&request};
  const auto batch = (*first)->Prepare(requests);
  batch->Forward(context);
  batch->Complete();
  EXPECT_EQ(request.outcome(), absl::OkStatus());
  const size_t before = lanes_by_model();
  ASSERT_TRUE(pool.Load("third", 1).ok());
  EXPECT_EQ(lanes_by_model(), before);
}

}  // namespace
}  // namespace millrace::server
