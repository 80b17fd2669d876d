#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/unit/server/executors/executor_pool_fixture.h"

namespace millrace::server {
namespace {

using runtime::DeviceType;
using testing::FakeExecutor;

class ExecutorRestartsTest : public testing::ExecutorPoolTest {
 protected:
  // Has so many executors die in the first step of a request of their own.
  void LetDie(int deaths) {
    in_forward_ = [deaths](FakeExecutor& executor, models::Request&) {
      if (executor.number() <= deaths) executor.Die(kSegfault);
    };
    StartWithModel();
    // A request that ends two executors is refused from then on.
    for (int number = 1; number <= deaths; number += 2)
      RunAlone(std::to_string(number)).IgnoreError();
  }

  std::shared_ptr<ExecutorLink> Link() {
    return *pool_->Choose(1, [] { return true; });
  }
};

TEST_F(ExecutorRestartsTest, AfterTwoDeathsStepsStillRunSideBySide) {
  LetDie(2);
  EXPECT_FALSE(Link()->gate().one_at_a_time());
}

TEST_F(ExecutorRestartsTest, AfterThreeDeathsOneStepRunsAtATimeUntilItHasServedForAWhile) {
  LetDie(3);
  const std::shared_ptr<ExecutorLink> link = Link();
  EXPECT_TRUE(link->gate().one_at_a_time());
  EXPECT_EQ(RunAlone("abc"), absl::OkStatus());
  // The thread that listens to the executor may not have looked at the clock yet.
  while (link->gate().one_at_a_time()) {
    clock_.Advance(RestartPolicy::kForgiven);
    std::this_thread::yield();
  }
  EXPECT_EQ(RunAlone("abcd"), absl::OkStatus());
}

TEST_F(ExecutorRestartsTest, LeavesTheDeviceAfterSixDeathsIfItMay) {
  Mutex mu;
  std::vector<DeviceType> devices;
  config_.device = DeviceType::kMps;
  config_.max_in_flight = 4;
  config_.executor_cpu_fallback = true;
  on_load_ = [&](FakeExecutor& executor) {
    const MutexLock lock(mu);
    devices.push_back(executor.device_type());
    return absl::OkStatus();
  };
  LetDie(6);
  EXPECT_EQ(RunAlone("abc"), absl::OkStatus());
  const MutexLock lock(mu);
  std::vector<DeviceType> expected(6, DeviceType::kMps);
  expected.push_back(DeviceType::kCpu);
  EXPECT_EQ(devices, expected);
}

TEST_F(ExecutorRestartsTest, StaysOnTheDeviceOtherwise) {
  std::atomic<DeviceType> device{};
  config_.device = DeviceType::kMps;
  on_load_ = [&](FakeExecutor& executor) {
    device = executor.device_type();
    return absl::OkStatus();
  };
  LetDie(7);
  EXPECT_EQ(RunAlone("abc"), absl::OkStatus());
  EXPECT_EQ(device, DeviceType::kMps);
}

TEST_F(ExecutorRestartsTest, GivesUpWhenNoExecutorCompletesAStep) {
  config_.executor_restart_limit = 3;
  std::atomic<bool> broken{false};
  in_forward_ = [&](FakeExecutor& executor, models::Request&) {
    if (broken) executor.Die(kSegfault);
  };
  StartWithModel();
  EXPECT_EQ(RunAlone("abc"), absl::OkStatus());
  broken = true;
  launcher_.Refuse(true);
  std::thread request([this] { RunAlone("abcd").IgnoreError(); });
  while (!pool_->stats().gave_up) std::this_thread::yield();
  pool_->EndWaits();
  request.join();
  // The first one had completed steps.
  EXPECT_EQ(pool_->stats().starts_failed, 3U);
}

TEST_F(ExecutorRestartsTest, AStepThatAnExecutorDidNotSurviveComputedNothing) {
  in_forward_ = [this](FakeExecutor& executor, models::Request&) {
    clock_.Advance(std::chrono::seconds(3));
    if (executor.number() == 1) executor.Die(kSegfault);
  };
  StartWithModel();
  Sink sink;
  models::Request request(Say("abc"), TimePoint::max(), sink);
  models::FakeWorkerContext context;
  for (const Duration expected : {Duration(std::chrono::seconds(3)), Duration{}}) {
    std::vector<models::Request*> requests = {&request};
    const auto batch = model_->Prepare(requests);
    batch->Forward(context);
    batch->Complete();
    EXPECT_EQ(batch->stalled(), expected);
  }
}

TEST_F(ExecutorRestartsTest, DoesNotGiveUpWhileOneServes) {
  config_.executor_restart_limit = 3;
  std::atomic<bool> died{false};
  in_forward_ = [&](FakeExecutor& executor, models::Request&) {
    if (!died.exchange(true)) executor.Die(kSegfault);
  };
  StartWithModel(2);
  launcher_.Refuse(true);
  EXPECT_EQ(RunAlone("abc"), absl::OkStatus());
  EXPECT_EQ(RunAlone("abcd"), absl::OkStatus());
  while (pool_->stats().starts_failed < 5) std::this_thread::yield();
  EXPECT_FALSE(pool_->stats().gave_up);
}

}  // namespace
}  // namespace millrace::server
