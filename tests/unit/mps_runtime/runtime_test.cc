#include "mps_runtime/runtime.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <array>
#include <atomic>
#include <barrier>
#include <latch>
#include <stdexcept>
#include <string>
#include <vector>

#include "mps_runtime/backend/cpu/cpu_info.h"
#include "mps_runtime/errors.h"
#include "tests/fakes/joining_thread.h"

namespace millrace::runtime {
namespace {

using testing::JoiningThread;

RuntimeOptions Cpu() {
  RuntimeOptions options;
  options.device = DeviceType::kCpu;
  return options;
}

class Entry final : public GraphEntry {
  size_t SizeBytes() const override { return 100; }
};

// The message of the refusal; empty when the options were accepted.
std::string RefusalOf(const RuntimeOptions& options) {
  try {
    Runtime::Bootstrap(options);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return {};
}

TEST(Bootstrap, TellsWhatItChose) {
  RuntimeOptions options = Cpu();
  options.mode = ForwardMode::kSerial;
  options.workers = 2;
  const auto runtime = Runtime::Bootstrap(options);
  EXPECT_EQ(runtime->device(), DeviceType::kCpu);
  EXPECT_EQ(runtime->mode(), ForwardMode::kSerial);
  EXPECT_EQ(runtime->limiter().permits(), AvailableCores());
  EXPECT_EQ(runtime->safe_concurrency_source(), "policy");
  EXPECT_EQ(runtime->intra_op_threads(), std::max(1, AvailableCores() / 2));
  EXPECT_EQ(runtime->provenance().device, "cpu");
  EXPECT_NE(runtime->provenance().threads.find("workers=2"), std::string::npos);
}

TEST(Bootstrap, MoreWorkersThanCoresStillHaveOneThreadEach) {
  RuntimeOptions options = Cpu();
  options.workers = kWorkerSlots;
  EXPECT_EQ(Runtime::Bootstrap(options)->intra_op_threads(),
            std::max(1, AvailableCores() / kWorkerSlots));
}

TEST(Bootstrap, WorkersThatOnlyWaitForAPermitTakeNoCores) {
  RuntimeOptions options = Cpu();
  options.workers = kWorkerSlots;
  options.max_in_flight = 1;
  EXPECT_EQ(Runtime::Bootstrap(options)->intra_op_threads(), AvailableCores());
}

TEST(Bootstrap, OnlyOneAtATime) {
  const auto runtime = Runtime::Bootstrap(Cpu());
  EXPECT_THROW(Runtime::Bootstrap(Cpu()), StreamError);
}

TEST(Bootstrap, MayBeRepeatedAfterTheFirstIsGone) {
  Runtime::Bootstrap(Cpu()).reset();
  EXPECT_NE(Runtime::Bootstrap(Cpu()), nullptr);
}

TEST(Bootstrap, IsForTheMainThread) {
  Runtime::Bootstrap(Cpu()).reset();
  JoiningThread([] { EXPECT_THROW(Runtime::Bootstrap(Cpu()), StreamError); });
}

TEST(Bootstrap, RefusesWorkersOutOfRange) {
  for (const int workers : {0, -1, 32}) {
    RuntimeOptions options = Cpu();
    options.workers = workers;
    EXPECT_EQ(RefusalOf(options), "workers = " + std::to_string(workers) + ": allowed are 1..31");
  }
}

TEST(Bootstrap, RefusesConcurrencyAboveThePolicy) {
  const int safe = AvailableCores();
  RuntimeOptions options = Cpu();
  options.max_in_flight = safe + 1;
  const std::string message = RefusalOf(options);
  EXPECT_EQ(message.find("max_in_flight = " + std::to_string(safe + 1) + ": allowed are 1.." +
                         std::to_string(safe)),
            0u)
      << message;
  for (const int bad : {0, -1, 32}) {
    options.max_in_flight = bad;
    options.accept_unsafe_concurrency = true;
    EXPECT_NE(RefusalOf(options), "") << bad;
  }
}

TEST(Bootstrap, OperatorMayLowerConcurrencyAndRaiseItKnowingly) {
  RuntimeOptions options = Cpu();
  options.max_in_flight = 1;
  {
    const auto runtime = Runtime::Bootstrap(options);
    EXPECT_EQ(runtime->limiter().permits(), 1);
    EXPECT_EQ(runtime->safe_concurrency_source(), "flag");
  }
  options.max_in_flight = AvailableCores() + 3;
  options.accept_unsafe_concurrency = true;
  EXPECT_EQ(Runtime::Bootstrap(options)->limiter().permits(), AvailableCores() + 3);
}

TEST(Bootstrap, MeasuredConcurrencyTakesThePlaceOfThePolicy) {
  RuntimeOptions options = Cpu();
  DeviceFacts asked;
  options.measured_concurrency = [&](const DeviceFacts& facts) {
    asked = facts;
    return 1;
  };
  {
    const auto runtime = Runtime::Bootstrap(options);
    EXPECT_EQ(runtime->limiter().permits(), 1);
    EXPECT_EQ(runtime->safe_concurrency_source(), "profile");
    EXPECT_EQ(runtime->intra_op_threads(), AvailableCores());
  }
  EXPECT_EQ(asked.provenance.device, "cpu");
  EXPECT_EQ(asked.provenance.device_name, CpuModelName());
  EXPECT_NE(asked.provenance.libtorch_version, "");
  EXPECT_EQ(asked.policy_concurrency, AvailableCores());

  options.measured_concurrency = [](const DeviceFacts&) { return std::nullopt; };
  const auto runtime = Runtime::Bootstrap(options);
  EXPECT_EQ(runtime->limiter().permits(), AvailableCores());
  EXPECT_EQ(runtime->safe_concurrency_source(), "policy");
}

TEST(Bootstrap, MeasuredConcurrencyNeverExceedsWhatTheDeviceCanUse) {
  RuntimeOptions options = Cpu();
  options.measured_concurrency = [](const DeviceFacts&) { return kWorkerSlots; };
  EXPECT_EQ(Runtime::Bootstrap(options)->limiter().permits(),
            std::min(AvailableCores(), kWorkerSlots));
}

TEST(Bootstrap, RefusesConcurrencyAboveWhatWasMeasured) {
  RuntimeOptions options = Cpu();
  options.measured_concurrency = [](const DeviceFacts&) { return 1; };
  options.max_in_flight = 2;
  EXPECT_EQ(RefusalOf(options),
            "max_in_flight = 2: allowed are 1..1 by the profile (more only with "
            "accept_unsafe_concurrency)");
  options.accept_unsafe_concurrency = true;
  const auto runtime = Runtime::Bootstrap(options);
  EXPECT_EQ(runtime->limiter().permits(), 2);
  EXPECT_EQ(runtime->safe_concurrency_source(), "flag");
}

TEST(Bootstrap, RefusesMeasuredConcurrencyOutOfRange) {
  for (const int measured : {0, -1, kWorkerSlots + 1, 1'000'000'000}) {
    RuntimeOptions options = Cpu();
    options.measured_concurrency = [=](const DeviceFacts&) { return measured; };
    EXPECT_EQ(RefusalOf(options),
              "measured_concurrency = " + std::to_string(measured) + ": allowed are 1..31");
  }
}

TEST(Describe, TellsOfTheDeviceWithoutABootstrap) {
  const DeviceFacts facts = Runtime::Describe(DeviceType::kCpu);
  EXPECT_EQ(facts.provenance.device, "cpu");
  EXPECT_EQ(facts.useful_concurrency, AvailableCores());
  EXPECT_NO_THROW(Runtime::Bootstrap(Cpu()));
  EXPECT_THROW(Runtime::Describe(DeviceType::kCpu, "1.0"), std::runtime_error);
}

TEST(Bootstrap, RefusesNegativeIntraOpThreads) {
  RuntimeOptions options = Cpu();
  options.intra_op_threads = -1;
  EXPECT_EQ(RefusalOf(options).find("intra_op_threads = -1: allowed are"), 0u);
}

TEST(Bootstrap, RefusesAnotherLibtorchThanRequired) {
  RuntimeOptions options = Cpu();
  options.require_libtorch = "1.0";
  EXPECT_THROW(Runtime::Bootstrap(options), std::runtime_error);
}

TEST(Bootstrap, RefusalLeavesRoomForAnotherTry) {
  RuntimeOptions bad = Cpu();
  bad.workers = 0;
  EXPECT_THROW(Runtime::Bootstrap(bad), std::invalid_argument);
  EXPECT_NO_THROW(Runtime::Bootstrap(Cpu()));
}

TEST(EnterMainThread, HasSlotZeroOnce) {
  const auto runtime = Runtime::Bootstrap(Cpu());
  auto context = runtime->EnterMainThread();
  EXPECT_EQ(context->stream(), (Stream{DeviceType::kCpu, 0}));
  EXPECT_THROW(runtime->EnterMainThread(), StreamError);
  EXPECT_THROW(runtime->EnterWorker(), StreamError);
  context.reset();
  EXPECT_NO_THROW(runtime->EnterMainThread());
}

TEST(EnterMainThread, RefusesOtherThreads) {
  const auto runtime = Runtime::Bootstrap(Cpu());
  JoiningThread([&] { EXPECT_THROW(runtime->EnterMainThread(), StreamError); });
}

TEST(EnterWorker, SetsUpTheThread) {
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

TEST(EnterWorker, RefusesTheThirtySecondAndCountsIt) {
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

TEST(ForThisThread, GivesEachThreadItsOwnAtFirstUse) {
  const auto runtime = Runtime::Bootstrap(Cpu());
  std::barrier both(2);
  std::array<const WorkerContext*, 2> contexts{};
  {
    std::vector<JoiningThread> threads;
    for (size_t i = 0; i < contexts.size(); ++i) {
      threads.emplace_back([&, i] {
        WorkerContext& context = runtime->ForThisThread();
        contexts[i] = &context;
        EXPECT_EQ(&runtime->ForThisThread(), &context);
        both.arrive_and_wait();
        EXPECT_EQ(runtime->stream_pool().stats().leased, 2);
        const ForwardScope scope(*runtime, context);
        EXPECT_THROW(runtime->EnterWorker(), StreamError);
        both.arrive_and_wait();
      });
    }
  }
  EXPECT_NE(contexts[0], contexts[1]);
  EXPECT_EQ(runtime->stream_pool().stats().leased, 0);
  EXPECT_EQ(runtime->stream_pool().stats().leases_total, 2u);
}

TEST(ForThisThread, IsTheContextThatWasEntered) {
  const auto runtime = Runtime::Bootstrap(Cpu());
  JoiningThread([&] {
    const auto entered = runtime->EnterWorker();
    EXPECT_EQ(&runtime->ForThisThread(), entered.get());
    runtime->LeaveThisThread();  // not its business
    EXPECT_EQ(&runtime->ForThisThread(), entered.get());
  });
}

TEST(ForThisThread, MainThreadHasSlotZeroForAsLongAsTheRuntimeLives) {
  for (int round = 0; round < 2; ++round) {
    const auto runtime = Runtime::Bootstrap(Cpu());
    EXPECT_EQ(runtime->ForThisThread().stream(), (Stream{DeviceType::kCpu, kDefaultSlot}));
    EXPECT_THROW(runtime->EnterMainThread(), StreamError);
    EXPECT_EQ(runtime->stream_pool().stats().leases_total, 0u);
  }
}

TEST(ForThisThread, MayLeaveBeforeItsThreadEnds) {
  const auto runtime = Runtime::Bootstrap(Cpu());
  JoiningThread([&] {
    {
      const ForwardScope scope(*runtime, runtime->ForThisThread());
      EXPECT_THROW(runtime->LeaveThisThread(), StreamError);
    }
    runtime->LeaveThisThread();
    EXPECT_EQ(runtime->stream_pool().stats().leased, 0);
    runtime->LeaveThisThread();
    EXPECT_EQ(runtime->ForThisThread().stream().slot, 1);
  });
  EXPECT_EQ(runtime->stream_pool().stats().leased, 0);
}

TEST(ForThisThread, TenThousandShortLivedThreadsLeakNothing) {
  constexpr int kAtOnce = 16;
  constexpr int kEach = 625;
  const auto runtime = Runtime::Bootstrap(Cpu());
  std::atomic<int> highest{0};
  std::barrier start(kAtOnce);
  {
    std::vector<JoiningThread> starters;
    for (int i = 0; i < kAtOnce; ++i) {
      starters.emplace_back([&] {
        start.arrive_and_wait();
        for (int round = 0; round < kEach; ++round) {
          JoiningThread([&] {
            const int slot = runtime->ForThisThread().stream().slot;
            for (int seen = highest; seen < slot && !highest.compare_exchange_weak(seen, slot);) {
            }
          });
        }
      });
    }
  }
  const StreamPool::Stats stats = runtime->stream_pool().stats();
  EXPECT_EQ(stats.leased, 0);
  EXPECT_EQ(stats.leases_total, static_cast<uint64_t>(kAtOnce * kEach));
  EXPECT_EQ(stats.refusals_total, 0u);
  EXPECT_LE(highest, kAtOnce);
}

TEST(ForThisThread, ThirtySecondIsRefusedAndMayAskAgain) {
  const auto runtime = Runtime::Bootstrap(Cpu());
  std::latch in(kWorkerSlots), leave(1);
  std::vector<JoiningThread> threads;
  for (int i = 0; i < kWorkerSlots; ++i) {
    threads.emplace_back([&] {
      runtime->ForThisThread();
      in.count_down();
      leave.wait();
    });
  }
  in.wait();
  std::latch refused(1), free(1);
  JoiningThread late([&] {
    EXPECT_THROW(runtime->ForThisThread(), StreamPoolExhausted);
    refused.count_down();
    free.wait();
    EXPECT_NO_THROW(runtime->ForThisThread());
  });
  refused.wait();
  EXPECT_EQ(runtime->stream_pool().stats().refusals_total, 1u);
  EXPECT_EQ(runtime->stream_pool().stats().leased, kWorkerSlots);
  leave.count_down();
  threads.clear();
  free.count_down();
}

TEST(ForThisThread, ThreadThatDiesByAnExceptionReturnsItsLease) {
  const auto runtime = Runtime::Bootstrap(Cpu());
  JoiningThread([&] {
    try {
      const ForwardScope scope(*runtime, runtime->ForThisThread());
      throw std::runtime_error("a forward failed");
    } catch (const std::runtime_error&) {
    }
  });
  EXPECT_EQ(runtime->stream_pool().stats().leased, 0);
  EXPECT_EQ(runtime->limiter().in_use(), 0);
}

// Asks for a context when its thread is about to end.
struct LateAsker {
  ~LateAsker() {
    if (runtime == nullptr) return;
    try {
      runtime->ForThisThread();
    } catch (const StreamError&) {
      *refused = true;
    }
  }
  Runtime* runtime = nullptr;
  bool* refused = nullptr;
};
thread_local LateAsker late_asker;

TEST(ForThisThread, ThreadThatEndsGetsNoSecondContext) {
  const auto runtime = Runtime::Bootstrap(Cpu());
  bool refused = false;
  JoiningThread([&] {
    late_asker.runtime = runtime.get();  // before the context, so it ends after it
    late_asker.refused = &refused;
    runtime->ForThisThread();
  });
  EXPECT_TRUE(refused);
  EXPECT_EQ(runtime->stream_pool().stats().leased, 0);
}

TEST(ForThisThreadDeathTest, ThreadThatOutlivesTheRuntimeEndsTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        auto runtime = Runtime::Bootstrap(Cpu());
        std::latch in(1);
        std::latch leave(1);
        JoiningThread thread([&] {
          runtime->ForThisThread();
          in.count_down();
          leave.wait();
        });
        in.wait();
        runtime.reset();
      },
      "runtime destroyed while a thread still has a context: that of stream 1");
}

TEST(GraphCacheStats, AddsUpContextsAndKeepsTheCountersOfThoseGone) {
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
      cache.Insert({"m", "f", 1, 0}, std::make_unique<Entry>());
      cache.Insert({"m", "f", 2, 0}, std::make_unique<Entry>());
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

TEST(GraphCacheStats, MayBeReadWhileThreadsComeAndGo) {
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
