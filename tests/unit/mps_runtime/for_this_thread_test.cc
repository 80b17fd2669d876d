// Contexts of threads that never asked for one before they needed it.

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <barrier>
#include <latch>
#include <vector>

#include "mps_runtime/base/joining_thread.h"
#include "mps_runtime/errors.h"
#include "mps_runtime/runtime.h"
#include "tests/fakes/at_once.h"
#include "tests/unit/mps_runtime/cpu_options.h"

namespace millrace::runtime {
namespace {

TEST(ForThisThreadTest, GivesEachThreadItsOwnAtFirstUse) {
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

TEST(ForThisThreadTest, IsTheContextThatWasEntered) {
  const auto runtime = Runtime::Bootstrap(Cpu());
  JoiningThread([&] {
    const auto entered = runtime->EnterWorker();
    EXPECT_EQ(&runtime->ForThisThread(), entered.get());
    runtime->LeaveThisThread();  // not its business
    EXPECT_EQ(&runtime->ForThisThread(), entered.get());
  });
}

TEST(ForThisThreadTest, MainThreadHasSlotZeroForAsLongAsTheRuntimeLives) {
  for (int round = 0; round < 2; ++round) {
    const auto runtime = Runtime::Bootstrap(Cpu());
    EXPECT_EQ(runtime->ForThisThread().stream(), (Stream{DeviceType::kCpu, kDefaultSlot}));
    EXPECT_THROW(runtime->EnterMainThread(), StreamError);
    EXPECT_EQ(runtime->stream_pool().stats().leases_total, 0u);
  }
}

TEST(ForThisThreadTest, MayLeaveBeforeItsThreadEnds) {
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

TEST(ForThisThreadTest, TenThousandShortLivedThreadsLeakNothing) {
  constexpr int kAtOnce = 16;
  constexpr int kEach = 625;
  const auto runtime = Runtime::Bootstrap(Cpu());
  std::atomic<int> highest{0};
  testing::AtOnce(kAtOnce, [&] {
    for (int round = 0; round < kEach; ++round) {
      JoiningThread([&] {
        const int slot = runtime->ForThisThread().stream().slot;
        for (int seen = highest; seen < slot && !highest.compare_exchange_weak(seen, slot);) {
        }
      });
    }
  });
  const StreamPool::Stats stats = runtime->stream_pool().stats();
  EXPECT_EQ(stats.leased, 0);
  EXPECT_EQ(stats.leases_total, static_cast<uint64_t>(kAtOnce * kEach));
  EXPECT_EQ(stats.refusals_total, 0u);
  EXPECT_LE(highest, kAtOnce);
}

TEST(ForThisThreadTest, ThirtySecondIsRefusedAndMayAskAgain) {
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

TEST(ForThisThreadTest, ThreadThatDiesByAnExceptionReturnsItsLease) {
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

TEST(ForThisThreadTest, ThreadThatEndsGetsNoSecondContext) {
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

}  // namespace
}  // namespace millrace::runtime
