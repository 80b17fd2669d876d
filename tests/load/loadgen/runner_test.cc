#include "tests/load/loadgen/runner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <thread>
#include <utility>
#include <vector>

#include "mps_runtime/base/mutex.h"

namespace millrace::loadgen {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// Answers each call on a thread of its own, in order, and remembers what was asked.
class FakeServer final : public Caller {
 public:
  FakeServer() : thread_([this] { Answer(); }) {}
  ~FakeServer() override {
    {
      MutexLock lock(mu_);
      closed_ = true;
    }
    changed_.NotifyAll();
    thread_.join();
  }

  void Start(uint64_t index, SteadyTime intended, CallObserver& observer) override {
    {
      MutexLock lock(mu_);
      started_.emplace_back(index, intended);
      waiting_.push_back(&observer);
      most_waiting_ = std::max(most_waiting_, waiting_.size());
    }
    changed_.NotifyAll();
  }

  // No answers while held.
  void Hold(bool held) {
    {
      MutexLock lock(mu_);
      held_ = held;
    }
    changed_.NotifyAll();
  }
  void WaitForStarted(size_t count) {
    MutexLock lock(mu_);
    while (started_.size() < count) changed_.Wait(mu_);
  }

  std::vector<std::pair<uint64_t, SteadyTime>> started() const {
    MutexLock lock(mu_);
    return started_;
  }
  size_t most_waiting() const {
    MutexLock lock(mu_);
    return most_waiting_;
  }

 private:
  void Answer() {
    MutexLock lock(mu_);
    while (true) {
      while (!closed_ && (held_ || waiting_.empty())) changed_.Wait(mu_);
      if (closed_) return;
      CallObserver* observer = waiting_.front();
      waiting_.pop_front();
      lock.Unlock();
      observer->OnCallDone();
      lock.Lock();
    }
  }

  mutable Mutex mu_;
  CondVar changed_;
  std::deque<CallObserver*> waiting_ MILLRACE_GUARDED_BY(mu_);
  std::vector<std::pair<uint64_t, SteadyTime>> started_ MILLRACE_GUARDED_BY(mu_);
  size_t most_waiting_ MILLRACE_GUARDED_BY(mu_) = 0;
  bool held_ MILLRACE_GUARDED_BY(mu_) = false;
  bool closed_ MILLRACE_GUARDED_BY(mu_) = false;
  std::thread thread_;
};

class RunnerTest : public testing::Test {
 protected:
  void Run() {
    Runner runner(options_, server_, recorder_);
    runner.Run();
    offered_ = runner.offered();
  }

  // No call is given up for being late, however slow the machine.
  RunnerTest() { options_.max_lag = std::chrono::hours(1); }

  Options options_;
  FakeServer server_;
  Recorder recorder_{steady_clock::now(), std::chrono::nanoseconds(0)};
  uint64_t offered_ = 0;
};

TEST_F(RunnerTest, ClosedLoopAsksEachInputOnceAndStopsAtTheCount) {
  options_.concurrency = 4;
  options_.count = 1000;
  Run();
  std::vector<int> asked(1000);
  for (const auto& [index, intended] : server_.started()) ++asked.at(index);
  EXPECT_EQ(asked, std::vector<int>(1000, 1));
  EXPECT_EQ(offered_, 1000U);
}

TEST_F(RunnerTest, ClosedLoopNeverExceedsItsConcurrency) {
  options_.concurrency = 4;
  options_.count = 200;
  server_.Hold(true);
  std::thread run([this] { Run(); });
  server_.WaitForStarted(4);
  server_.Hold(false);
  run.join();
  EXPECT_EQ(server_.most_waiting(), 4U);
}

TEST_F(RunnerTest, ClosedLoopNeedsNoMoreCallsThanTheCount) {
  options_.concurrency = 32;
  options_.count = 3;
  Run();
  EXPECT_EQ(server_.started().size(), 3U);
}

TEST_F(RunnerTest, OpenLoopKeepsItsScheduleWhileNothingIsAnswered) {
  options_.concurrency = 0;
  options_.rate = 1000;
  options_.count = 50;
  server_.Hold(true);
  std::thread run([this] { Run(); });
  server_.WaitForStarted(50);  // all are sent though none has been answered
  server_.Hold(false);
  run.join();
  const auto started = server_.started();
  for (size_t i = 0; i < started.size(); ++i) {
    EXPECT_EQ(started[i].second - recorder_.start(), milliseconds(i)) << i;
  }
}

TEST_F(RunnerTest, OpenLoopCountsWhatItMayNotSend) {
  options_.concurrency = 0;
  options_.rate = 10000;
  options_.count = 30;
  options_.max_outstanding = 10;
  server_.Hold(true);
  std::thread run([this] { Run(); });
  server_.WaitForStarted(10);
  while (recorder_.unsent() < 20) std::this_thread::yield();
  server_.Hold(false);
  run.join();
  EXPECT_EQ(offered_, 30U);
  EXPECT_EQ(server_.started().size() + recorder_.unsent(), 30U);
  EXPECT_LE(server_.most_waiting(), 10U);
}

TEST_F(RunnerTest, OpenLoopGivesUpWhatIsTooLate) {
  options_.concurrency = 0;
  options_.rate = 1000;
  options_.count = 20;
  options_.max_lag = -std::chrono::hours(1);  // even a call on time is late
  Run();
  EXPECT_EQ(recorder_.unsent(), 20U);
  EXPECT_TRUE(server_.started().empty());
}

TEST_F(RunnerTest, StopEndsARunWithoutALimit) {
  options_.concurrency = 2;
  Runner runner(options_, server_, recorder_);
  std::thread run([&runner] { runner.Run(); });
  server_.WaitForStarted(10);
  runner.Stop();
  run.join();
  EXPECT_GE(runner.offered(), 10U);
}

}  // namespace
}  // namespace millrace::loadgen
