#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/unit/server/executors/executor_pool_fixture.h"

namespace millrace::server {
namespace {

using testing::FakeExecutor;

class ExecutorSparesTest : public testing::ExecutorPoolTest {};

TEST_F(ExecutorSparesTest, ASpareTakesOverAtOnceAndItsSuccessorIsTheNextSpare) {
  Mutex mu;
  CondVar changed;
  bool may_start = false;
  config_.spare_executors = 1;
  // The third executor, which is the successor of the dead one, does not get ready.
  on_load_ = [&](FakeExecutor&) {
    if (++loads_ <= 2) return absl::OkStatus();
    const MutexLock lock(mu);
    while (!may_start) changed.Wait(mu);
    return absl::OkStatus();
  };
  std::atomic<int> died_on{0};
  in_forward_ = [&](FakeExecutor& executor, models::Request&) {
    int none = 0;
    if (died_on.compare_exchange_strong(none, executor.number())) executor.Die(kSegfault);
  };
  StartWithModel();
  EXPECT_EQ(pool_->stats().serving, 1);
  EXPECT_EQ(pool_->stats().spares_ready, 1);
  const auto served_for = pool_->stats().served_for;
  ASSERT_EQ(served_for.size(), 1u);
  EXPECT_EQ(RunAlone("abc"), absl::OkStatus());
  EXPECT_EQ(pool_->stats().serving, 1);
  EXPECT_EQ(pool_->stats().spares_ready, 0);
  ASSERT_EQ(pool_->stats().served_for.size(), 1u);
  EXPECT_NE(pool_->stats().served_for.front().first, served_for.front().first);
  {
    const MutexLock lock(mu);
    may_start = true;
    changed.NotifyAll();
  }
  while (pool_->stats().spares_ready == 0) std::this_thread::yield();
  EXPECT_EQ(pool_->stats().serving, 1);
  EXPECT_EQ(launcher_.started(), 3);
}

TEST_F(ExecutorSparesTest, ASpareStandsInForExecutorsOfItsOwnDeviceAlone) {
  Mutex mu;
  std::map<std::string, std::vector<int>> devices;  // where the steps of each text ran
  config_.device_numbers = {3, 5};
  config_.spare_executors = 2;
  // The first step of the second request ends its executor.
  in_forward_ = [&](FakeExecutor& executor, models::Request& request) {
    MutexLock lock(mu);
    std::vector<int>& its = devices[TextOf(request)];
    its.push_back(executor.device_number());
    const bool ends = TextOf(request) == "xyz" && its.size() == 1;
    lock.Unlock();
    if (ends) executor.Die(kSegfault);
  };
  StartWithModel(2);
  // This request occupies one device, so that the next begins on the other, and is replayed by what
  // stands in for the executor there.
  Sink sink;
  models::Request under_way(Say("abc"), TimePoint::max(), sink);
  RunOnce({&under_way});
  EXPECT_EQ(RunAlone("xyz"), absl::OkStatus());
  RunToEnd({&under_way});
  EXPECT_EQ(under_way.outcome(), absl::OkStatus());
  const MutexLock lock(mu);
  const int other = devices["abc"].front() == 3 ? 5 : 3;
  EXPECT_THAT(devices["abc"], ::testing::ElementsAre(8 - other, 8 - other, 8 - other));
  EXPECT_THAT(devices["xyz"], ::testing::ElementsAre(other, other, other, other));
}

TEST_F(ExecutorSparesTest, ASpareReplacesAnOldExecutorWhichEndsOnceItsRequestsHave) {
  config_.spare_executors = 1;
  config_.executor_max_age = std::chrono::hours(1);
  Mutex mu;
  std::map<std::string, std::set<int>> executors_of;
  in_forward_ = [&](FakeExecutor& executor, models::Request& request) {
    const MutexLock lock(mu);
    executors_of[TextOf(request)].insert(executor.number());
  };
  StartWithModel();
  Sink sink;
  models::Request under_way(Say("abc"), TimePoint::max(), sink);
  RunOnce({&under_way});
  clock_.Advance(std::chrono::minutes(61));
  while (pool_->stats().spares_ready == 1) std::this_thread::yield();
  EXPECT_EQ(pool_->stats().serving, 1);
  EXPECT_EQ(RunAlone("new"), absl::OkStatus());
  RunToEnd({&under_way});
  EXPECT_EQ(under_way.outcome(), absl::OkStatus());
  {
    const MutexLock lock(mu);
    EXPECT_EQ(executors_of["abc"].size(), 1U);
    EXPECT_NE(executors_of["new"], executors_of["abc"]);
  }
  while (pool_->stats().spares_ready == 0) std::this_thread::yield();
  const ExecutorPool::Stats stats = pool_->stats();
  EXPECT_EQ(stats.recycled, 1U);
  EXPECT_EQ(stats.deaths, decltype(stats.deaths){});
  EXPECT_EQ(stats.replays, 0U);
}

TEST_F(ExecutorSparesTest, ASpareReplacesAnExecutorWhoseMemoryGrows) {
  config_.spare_executors = 1;
  config_.executor_max_growth = 1000;
  std::atomic<uint64_t> looks{0};
  // Only the first one grows, whichever of both serves first.
  std::atomic<int> grows{0};
  launcher_.memory = [&](int number) -> uint64_t {
    if (grows == 0) return 5000;
    ++looks;
    return number == grows ? 5000 + 500 * looks : 5000;
  };
  in_forward_ = [&](FakeExecutor& executor, models::Request&) {
    if (grows == 0) grows = executor.number();
  };
  StartWithModel();
  Sink sink;
  models::Request under_way(Say("abc"), TimePoint::max(), sink);
  RunOnce({&under_way});
  while (pool_->stats().spares_ready == 1) {
    const uint64_t before = looks;
    clock_.Advance(std::chrono::milliseconds(250));
    while (looks == before && pool_->stats().spares_ready == 1) std::this_thread::yield();
  }
  EXPECT_GE(looks, 64U);
  EXPECT_EQ(pool_->stats().serving, 1);
  EXPECT_EQ(RunAlone("new"), absl::OkStatus());
  EXPECT_EQ(pool_->stats().recycled, 0U);
  RunToEnd({&under_way});
  EXPECT_EQ(under_way.outcome(), absl::OkStatus());
  while (pool_->stats().spares_ready == 0) std::this_thread::yield();
  const ExecutorPool::Stats stats = pool_->stats();
  EXPECT_EQ(stats.recycled, 1U);
  EXPECT_EQ(stats.deaths, decltype(stats.deaths){});
  EXPECT_EQ(stats.replays, 0U);
  // Its threads look at the memory, and so at variables of this test, for as long as it lives.
  model_.reset();
  pool_.reset();
}

}  // namespace
}  // namespace millrace::server
