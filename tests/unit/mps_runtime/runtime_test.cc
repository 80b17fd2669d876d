// Contexts that are entered, and what the runtime says of them.

#include "mps_runtime/runtime.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <barrier>
#include <latch>
#include <memory>
#include <vector>

#include "mps_runtime/base/joining_thread.h"
#include "mps_runtime/errors.h"
#include "tests/unit/mps_runtime/cpu_options.h"

namespace millrace::runtime {
namespace {

class CountedEntry final : public GraphEntry {
  size_t SizeBytes() const override { return 100; }
};

TEST(EnterMainThreadTest, HasSlotZeroOnce) {
  const auto runtime = Runtime::Bootstrap(Cpu());
  auto context = runtime->EnterMainThread();
  EXPECT_EQ(context->stream(), (Stream{DeviceType::kCpu, 0}));
  EXPECT_THROW(runtime->EnterMainThread(), StreamError);
  EXPECT_THROW(runtime->EnterWorker(), StreamError);
  context.reset();
  EXPECT_NO_THROW(runtime->EnterMainThread());
}

TEST(EnterMainThreadTest, RefusesOtherThreads) {
  const auto runtime = Runtime::Bootstrap(Cpu());
  JoiningThread([&] { EXPECT_THROW(runtime->EnterMainThread(), StreamError); });
}

TEST(EnterWorkerTest, SetsUpTheThread) {
  RuntimeOptions options = Cpu();
  options.intra_op_threads = 3;
  const auto runtime = Runtime::Bootstrap(options);
  JoiningThread([&] {
    const int threads_before = at::get_num_threads();
    {
      const auto context = runtime->EnterWorker();
      EXPECT_EQ(context->stream().slot, 1);
      char name[32] = {};
      pthread_getname_np(pthread_self(), name, sizeof(name));
      EXPECT_STREQ(name, "millrace-w1");
      EXPECT_EQ(at::get_num_threads(), 3);
      EXPECT_THROW(runtime->EnterWorker(), StreamError);
      EXPECT_EQ(runtime->stream_pool().stats().leased, 1);
    }
    EXPECT_EQ(runtime->stream_pool().stats().leased, 0);
    EXPECT_EQ(at::get_num_threads(), threads_before);
  });
}

TEST(EnterWorkerTest, RefusesTheThirtySecondAndCountsIt) {
  const auto runtime = Runtime::Bootstrap(Cpu());
  std::latch in(kWorkerSlots);
  std::latch leave(1);
  std::vector<JoiningThread> threads;
  for (int i = 0; i < kWorkerSlots; ++i) {
    threads.emplace_back([&] {
      const auto context = runtime->EnterWorker();
      in.count_down();
      leave.wait();
    });
  }
  in.wait();
  JoiningThread([&] { EXPECT_THROW(runtime->EnterWorker(), StreamPoolExhausted); }).join();
  EXPECT_EQ(runtime->stream_pool().stats().refusals_total, 1u);
  leave.count_down();
  threads.clear();
  JoiningThread([&] { EXPECT_NO_THROW(runtime->EnterWorker()); });
}

TEST(GraphCacheStatsTest, AddsUpContextsAndKeepsTheCountersOfThoseGone) {
  RuntimeOptions options = Cpu();
  options.graph_cache.max_entries = 1;
  const auto runtime = Runtime::Bootstrap(options);
  constexpr int kThreads = 16;
  std::barrier filled(kThreads + 1), leave(kThreads + 1);
  std::vector<JoiningThread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      const auto context = runtime->EnterWorker();
      GraphCache& cache = context->graph_cache();
      cache.Find({"m", "f", 1, 0});
      cache.Insert({"m", "f", 1, 0}, std::make_unique<CountedEntry>());
      cache.Insert({"m", "f", 2, 0}, std::make_unique<CountedEntry>());
      cache.Find({"m", "f", 2, 0});
      filled.arrive_and_wait();
      leave.arrive_and_wait();
    });
  }
  filled.arrive_and_wait();
  GraphCacheStats stats = runtime->graph_cache_stats();
  EXPECT_EQ(stats.entries, 16u);
  EXPECT_EQ(stats.bytes, 1600u);
  leave.arrive_and_wait();
  threads.clear();
  stats = runtime->graph_cache_stats();
  EXPECT_EQ(stats.entries, 0u);
  EXPECT_EQ(stats.bytes, 0u);
  EXPECT_EQ(stats.hits, 16u);
  EXPECT_EQ(stats.misses, 16u);
  EXPECT_EQ(stats.evictions, 16u);
}

TEST(GraphCacheStatsTest, MayBeReadWhileThreadsComeAndGo) {
  constexpr int kThreads = 16;
  constexpr int kRounds = 100;
  const auto runtime = Runtime::Bootstrap(Cpu());
  std::barrier start(kThreads + 1);
  std::vector<JoiningThread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      start.arrive_and_wait();
      for (int round = 0; round < kRounds; ++round) {
        runtime->EnterWorker()->graph_cache().Find({"m", "f", round, 0});
      }
    });
  }
  start.arrive_and_wait();
  uint64_t last = 0;
  while (last < kThreads * kRounds) {
    const uint64_t now = runtime->graph_cache_stats().misses;
    ASSERT_GE(now, last);
    last = now;
  }
}

TEST(RuntimeDeathTest, ContextDestroyedOnAnotherThreadEndsTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        const auto runtime = Runtime::Bootstrap(Cpu());
        std::unique_ptr<WorkerContext> context;
        JoiningThread([&] { context = runtime->EnterWorker(); }).join();
        context.reset();
      },
      "context of stream 1 was destroyed on another thread");
}

TEST(RuntimeDeathTest, DyingBeforeItsContextsEndsTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        auto runtime = Runtime::Bootstrap(Cpu());
        const auto context = runtime->EnterMainThread();
        runtime.reset();
      },
      "runtime destroyed while a thread still has a context");
}

}  // namespace
}  // namespace millrace::runtime
