#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/unit/server/executors/executor_pool_fixture.h"

namespace millrace::server {
namespace {

using testing::FakeExecutor;

class ExecutorStartsTest : public testing::ExecutorPoolTest {};

// Holds its connection and does nothing.
struct SilentProcess final : ExecutorProcess {
  explicit SilentProcess(FileDescriptor control) : control(std::move(control)) {}
  int64_t pid() const override { return 1; }
  void Kill() override {}
  ProcessEnd Await() override { return {.exit_status = 1}; }
  FileDescriptor control;
};

// Writes what is no frame in place of its first message.
class GarbageLauncher final : public ExecutorLauncher {
 public:
  absl::StatusOr<std::unique_ptr<ExecutorProcess>> Launch(FileDescriptor control) override {
    const std::string_view bytes = "Segmentation fault (core dumped)\n";
    EXPECT_EQ(write(control.get(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
    return std::make_unique<SilentProcess>(std::move(control));
  }
};

TEST_F(ExecutorStartsTest, SaysThatAnExecutorSendsNoMessages) {
  GarbageLauncher launcher;
  config_.executors = 1;
  ExecutorPool pool({.config = config_, .patience = std::chrono::milliseconds(1)}, launcher);
  EXPECT_EQ(pool.Start(), absl::InvalidArgumentError("a message does not begin as a frame does"));
}

TEST_F(ExecutorStartsTest, RefusesAnExecutorOfAnotherVersion) {
  launcher_.version = "9.9.9";
  const absl::Status status = Start();
  EXPECT_EQ(status, absl::FailedPreconditionError(
                        "an executor is of version 9.9.9 and speaks protocol 3; this server is of "
                        "version 1.2.3 and speaks 3"));
}

TEST_F(ExecutorStartsTest, SaysHowAnExecutorEndedBeforeItWasReady) {
  launcher_.stand_in = [](int, FileDescriptor& control) {
    auto process = std::make_unique<SilentProcess>(std::move(control));
    process->control.Close();
    return process;
  };
  const absl::Status status = Start();
  EXPECT_TRUE(absl::IsUnavailable(status));
  EXPECT_THAT(std::string(status.message()),
              ::testing::AllOf(::testing::StartsWith("an executor did not become ready: "),
                               ::testing::EndsWith(" (exit status 1)")));
}

TEST_F(ExecutorStartsTest, SaysThatAnExecutorSaysNothing) {
  launcher_.stand_in = [](int, FileDescriptor& control) {
    return std::make_unique<SilentProcess>(std::move(control));
  };
  std::atomic<bool> started{false};
  std::thread time([&] {
    while (!started) {
      clock_.Advance(std::chrono::seconds(1));
      std::this_thread::yield();
    }
  });
  EXPECT_EQ(Start(),
            absl::DeadlineExceededError("an executor did not say within 60 s that it is ready"));
  started = true;
  time.join();
}

TEST_F(ExecutorStartsTest, SaysThatAnExecutorCannotBeStarted) {
  launcher_.Refuse(true);
  EXPECT_EQ(Start(), absl::UnavailableError("no more processes"));
}

TEST_F(ExecutorStartsTest, EachExecutorAndItsSuccessorsHaveTheDeviceOfTheirPlace) {
  Mutex mu;
  std::vector<int> devices;
  config_.device_numbers = {3, 5};
  on_load_ = [&](FakeExecutor& executor) {
    const MutexLock lock(mu);
    devices.push_back(executor.device_number());
    return absl::OkStatus();
  };
  const auto seen = [&] {
    const MutexLock lock(mu);
    return devices;
  };
  std::atomic<int> failed{0};
  in_forward_ = [&](FakeExecutor& executor, models::Request&) {
    int none = 0;
    if (failed.compare_exchange_strong(none, executor.device_number())) executor.Die(kSegfault);
  };
  StartWithModel(2);
  EXPECT_THAT(seen(), ::testing::UnorderedElementsAre(3, 5));
  EXPECT_EQ(RunAlone("abc"), absl::OkStatus());
  while (seen().size() < 3) std::this_thread::yield();
  EXPECT_EQ(seen().back(), failed);
}

}  // namespace
}  // namespace millrace::server
