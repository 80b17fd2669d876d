#include "server/metrics/count_shard.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cstdint>
#include <thread>
#include <vector>

#include "tests/fakes/at_once.h"

namespace millrace::server {
namespace {

TEST(CountShardTest, StaysTheSameInAThread) {
  std::thread([] {
    const size_t shard = CountShard();
    EXPECT_EQ(CountShard(), shard);
  }).join();
}

TEST(CountShardTest, OwnedOnesHaveOneThreadEachAndTheOthersSpread) {
  constexpr size_t kThreads = 3 * kCountShards;
  std::vector<size_t> shards(kThreads);
  std::barrier all(kThreads);
  std::vector<std::thread> threads;
  for (size_t& shard : shards) {
    threads.emplace_back([&] {
      all.arrive_and_wait();
      shard = CountShard();
      all.arrive_and_wait();  // none ends before all have theirs
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (size_t owned = 0; owned < kOwnedShards; ++owned)
    EXPECT_LE(std::count(shards.begin(), shards.end(), owned), 1) << owned;
  for (size_t shared = kOwnedShards; shared < kCountShards; ++shared)
    EXPECT_GT(std::count(shards.begin(), shards.end(), shared), 1) << shared;
  EXPECT_LT(*std::max_element(shards.begin(), shards.end()), kCountShards);
}

TEST(CountShardTest, IsFreeAgainWhenItsThreadEnds) {
  for (size_t i = 0; i < 3 * kOwnedShards; ++i)
    std::thread([] { EXPECT_LT(CountShard(), kOwnedShards); }).join();
}

// Counts after the thread has given up its hold on its shard, which another may own by then.
struct CountsAtTheEnd {
  ~CountsAtTheEnd() {
    if (shard != nullptr) *shard = CountShard();
  }
  size_t* shard = nullptr;
};

TEST(CountShardTest, IsASharedOneWhileTheThreadEnds) {
  size_t before = 0;
  size_t after = 0;
  std::thread([&] {
    static thread_local CountsAtTheEnd last;
    last.shard = &after;
    before = CountShard();
  }).join();
  EXPECT_LT(before, kOwnedShards);
  EXPECT_GE(after, kOwnedShards);
  EXPECT_LT(after, kCountShards);
}

TEST(CountShardTest, AnyNumberOfThreadsAddToASharedOne) {
  constexpr size_t kThreads = 4;
  constexpr uint64_t kEach = 200000;
  std::atomic<uint64_t> count{0};
  std::atomic<double> sum{0};
  testing::AtOnce(static_cast<int>(kThreads), [&] {
    for (uint64_t i = 0; i < kEach; ++i) {
      AddInShard(kOwnedShards, count, uint64_t{1});
      AddInShard(kOwnedShards, sum, 0.5);
    }
  });
  EXPECT_EQ(count.load(), kThreads * kEach);
  EXPECT_EQ(sum.load(), 0.5 * static_cast<double>(kThreads * kEach));
}

}  // namespace
}  // namespace millrace::server
