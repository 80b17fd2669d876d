#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "tests/unit/server/executors/executor_pool_fixture.h"

namespace millrace::server {
namespace {

using testing::FakeExecutor;
using ::testing::HasSubstr;

class ExecutorDeathsTest : public testing::ExecutorPoolTest {};

TEST_F(ExecutorDeathsTest, ReportsEachDeathWithTheStepThatRan) {
  std::string folder = ::testing::TempDir() + "deaths.XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  CrashFolder crashes(folder);
  crashes_ = &crashes;
  in_forward_ = [](FakeExecutor& executor, models::Request& request) {
    if (executor.number() == 1 && SaidOf(request) == 1) executor.Die(kSegfault);
  };
  StartWithModel();
  EXPECT_EQ(RunAlone("abc"), absl::OkStatus());
  model_.reset();
  pool_.reset();
  std::string text;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream file(entry.path());
    text.append(std::istreambuf_iterator<char>(file), {});
  }
  std::filesystem::remove_all(folder);
  EXPECT_THAT(text, HasSubstr("\"id\": \"executor-1\""));
  EXPECT_THAT(text, HasSubstr("\"how\": \"signal SIGSEGV\""));
  EXPECT_THAT(text, HasSubstr("\"requests\": 1, \"described\": [{\"id\": 1, \"bytes\": 3}]"));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("abc")));
}

TEST_F(ExecutorDeathsTest, EndsAnExecutorWhoseDeviceComputesNothingMore) {
  in_forward_ = [](FakeExecutor& executor, models::Request& request) {
    if (executor.number() == 1 && SaidOf(request) == 1)
      throw std::runtime_error("CUDA error: unspecified launch failure\nCompile with ...");
    if (TextOf(request) == "wrong") throw std::runtime_error("CUDA error: invalid argument");
  };
  StartWithModel();
  EXPECT_EQ(RunAlone("abc"), absl::OkStatus());
  EXPECT_EQ(pool_->stats().deaths[static_cast<size_t>(DeathCause::kExit)], 1U);
  EXPECT_EQ(RunAlone("wrong").code(), absl::StatusCode::kInternal);
  EXPECT_EQ(launcher_.started(), 2);
}

TEST_F(ExecutorDeathsTest, EndsAnExecutorWhoseDeviceComputesNothingMoreWhenAModelIsLoaded) {
  on_load_ = [](FakeExecutor& executor) {
    return executor.number() == 1 ? absl::InternalError(
                                        "warm-up of model 'voice' failed: CUDA error: misaligned "
                                        "address")
                                  : absl::OkStatus();
  };
  StartWithModel();
  EXPECT_EQ(pool_->stats().deaths[static_cast<size_t>(DeathCause::kExit)], 1U);
  EXPECT_EQ(RunAlone("abc"), absl::OkStatus());
}

TEST_F(ExecutorDeathsTest, KillsAnExecutorThatHangsAndBlamesTheRequest) {
  std::atomic<int> hung{0};
  in_forward_ = [&](FakeExecutor& executor, models::Request& request) {
    if (TextOf(request) != "hang") return;
    ++hung;
    executor.Hang();
  };
  StartWithModel();
  const auto kills = [&] {
    return static_cast<int>(pool_->stats().deaths[static_cast<size_t>(DeathCause::kHang)]);
  };
  std::thread time([&] {
    for (int steps = 1; steps <= 2; ++steps) {
      while (hung < steps) std::this_thread::yield();
      while (kills() < steps) {
        clock_.Advance(std::chrono::seconds(1));
        std::this_thread::yield();
      }
    }
  });
  const absl::Status status = RunAlone("hang");
  time.join();
  EXPECT_EQ(status, absl::InternalError("the request ended two executors of model 'voice' (a step "
                                        "took too long); crash executor-2"));
  EXPECT_EQ(kills(), 2);
}

TEST_F(ExecutorDeathsTest, ATimeInWhichTheServerDidNotRunEndsNoExecutor) {
  std::atomic<bool> entered{false};
  in_forward_ = [&](FakeExecutor&, models::Request& request) {
    if (TextOf(request) != "slow" || entered.exchange(true)) return;
    // The front passes this on when it looks whether the step takes too long.
    while (!request.cancelled()) std::this_thread::yield();
  };
  StartWithModel();
  Sink sink;
  models::Request slow(Say("slow"), TimePoint::max(), sink);
  std::thread pause([&] {
    while (!entered) std::this_thread::yield();
    clock_.Advance(std::chrono::hours(8));  // as of a machine that sleeps
    sink.Cancel();
  });
  RunOnce({&slow});
  pause.join();
  EXPECT_EQ(pool_->stats().deaths, (decltype(pool_->stats().deaths){}));
}

TEST_F(ExecutorDeathsTest, ConvictsNoRequestOfAnExecutorThatFallsSilent) {
  Silence silence;
  launcher_.stand_in = [&](int number, FileDescriptor& control) {
    return number > 2 ? nullptr
                      : std::make_unique<MuteExecutor>(std::move(control), /*loads=*/true, silence);
  };
  config_.executor_step_timeout =
      std::chrono::duration_cast<std::chrono::milliseconds>(8 * kAnswerLimit);
  StartWithModel();
  std::thread time([&] {
    for (const unsigned fallen : {1U, 2U}) LetSilencePass(silence, fallen);
  });
  EXPECT_EQ(RunAlone("abc"), absl::OkStatus());
  time.join();
  EXPECT_EQ(pool_->stats().deaths[static_cast<size_t>(DeathCause::kSilent)], 2U);
  EXPECT_EQ(pool_->stats().convicted, 0U);
}

TEST_F(ExecutorDeathsTest, WaitsLongerFromDeathToDeathAndEndsWaitsWhenTheServerStops) {
  in_forward_ = [](FakeExecutor& executor, models::Request&) { executor.Die(kOutOfMemory); };
  StartWithModel(1, /*at_once=*/false);
  Sink sink;
  models::Request request(Say("abc"), TimePoint::max(), sink);
  RunOnce({&request});  // its successor is started at once
  RunOnce({&request});
  // The next one comes after a second, which does not pass.
  std::thread stop([&] { pool_->EndWaits(); });
  RunOnce({&request});
  stop.join();
  EXPECT_EQ(request.outcome(), absl::UnavailableError("the server is shutting down"));
  EXPECT_EQ(launcher_.started(), 2);
  EXPECT_EQ(pool_->stats().serving, 0);
  clock_.Advance(std::chrono::milliseconds(500));
  EXPECT_GE(pool_->stats().without, std::chrono::milliseconds(500));
}

TEST_F(ExecutorDeathsTest, KillsNeitherLengthenNorEndARowOfDeaths) {
  // The clock stands still, so that a successor which has to wait does not come.
  constexpr std::string_view deaths = "kkkckkc";  // Each letter ends the executor of its number.
  in_forward_ = [&](FakeExecutor& executor, models::Request&) {
    executor.Die(deaths[static_cast<size_t>(executor.number()) - 1] == 'k' ? kKill : kSegfault);
  };
  StartWithModel(1, /*at_once=*/false);
  Sink sink;
  for (size_t i = 0; i < deaths.size(); ++i) {
    models::Request request(Say("abc"), TimePoint::max(), sink);
    RunOnce({&request});
  }
  while (clock_.longest_wait() < std::chrono::seconds(1) && launcher_.started() == 7)
    std::this_thread::yield();
  EXPECT_EQ(launcher_.started(), 7);
  EXPECT_EQ(clock_.longest_wait(), std::chrono::seconds(1));
}

}  // namespace
}  // namespace millrace::server
