// 4 stream assignment, 7 over-subscription and 8 thread churn.
#include <ATen/TensorOperators.h>
#include <ATen/ops/equal.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <latch>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "mps_runtime/errors.h"
#include "tests/conformance/harness.h"
#include "tests/conformance/operators.h"
#include "tests/fakes/joining_thread.h"

namespace millrace::conformance {
namespace {

using runtime::kWorkerSlots;
using testing::JoiningThread;

TEST(Conformance, StreamAssignment) {
  constexpr int kRounds = 10;
  const auto runtime = runtime::Runtime::Bootstrap(Options(kWorkerSlots));
  const at::Device device = TensorDevice(*runtime);
  {
    const auto context = runtime->EnterMainThread();
    EXPECT_EQ(context->stream(), (runtime::Stream{runtime->device(), 0}));
  }
  std::atomic<int> changed{0};
  for (int round = 0; round < kRounds; ++round) {
    std::mutex mu;
    std::set<int> slots;
    RunWorkers(*runtime, kWorkerSlots, [&](int thread, auto& context) {
      const runtime::Stream stream = context.stream();
      const at::Tensor numbers = Numbers({64}, at::kCPU, thread);
      {
        // To the device and back on this stream.
        const runtime::ForwardScope scope(*runtime, context);
        const at::Tensor there = numbers.to(device) + 1;
        context.Synchronize();
        if (!at::equal(there.to(at::kCPU), numbers + 1) || context.stream() != stream) ++changed;
      }
      const std::scoped_lock lock(mu);
      slots.insert(stream.slot);
    });
    ASSERT_EQ(slots.size(), static_cast<size_t>(kWorkerSlots));
    EXPECT_EQ(*slots.begin(), 1);
    EXPECT_EQ(*slots.rbegin(), kWorkerSlots);
  }
  EXPECT_EQ(changed, 0);
  Report("stream_assignment", std::to_string(kWorkerSlots) + " distinct slots in each of " +
                                  std::to_string(kRounds) + " rounds, main thread on slot 0");
}

TEST(Conformance, OverSubscription) {
  constexpr int kTooMany = 50;
  const auto runtime = runtime::Runtime::Bootstrap(Options(kWorkerSlots));
  const at::Device device = TensorDevice(*runtime);
  const Operator& op = Operators()[0];
  at::Tensor expected;
  {
    const auto context = runtime->EnterMainThread();
    const runtime::ForwardScope scope(*runtime, *context);
    expected = RunToHost(op, device, 0, *context);
  }
  std::latch all_in(kWorkerSlots);
  std::atomic<int> refused{0}, wrong{0}, forwards{0};
  std::atomic<bool> stop{false};
  JoiningThread crowd([&] {
    all_in.wait();
    for (int i = 0; i < kTooMany; ++i) {
      JoiningThread([&] {
        try {
          runtime->EnterWorker();
        } catch (const runtime::StreamPoolExhausted&) {
          ++refused;
        }
      });
    }
    stop = true;
  });
  RunWorkers(*runtime, kWorkerSlots, [&](int, auto& context) {
    all_in.count_down();
    do {
      const runtime::ForwardScope scope(*runtime, context);
      if (!SameNumbers(expected, RunToHost(op, device, 0, context), runtime->device())) ++wrong;
      ++forwards;
    } while (!stop);
  });
  crowd.join();
  EXPECT_EQ(refused, kTooMany);
  EXPECT_EQ(runtime->stream_pool().stats().refusals_total, static_cast<uint64_t>(kTooMany));
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(runtime->stream_pool().stats().leased, 0);
  Report("over_subscription", std::to_string(refused) + " of " + std::to_string(kTooMany) +
                                  " leases beyond 31 refused; meanwhile " +
                                  std::to_string(forwards) + " forwards, " + std::to_string(wrong) +
                                  " wrong");
}

TEST(Conformance, ThreadChurn) {
  constexpr int kRounds = 250;
  constexpr int kAtOnce = 16;
  const auto runtime = runtime::Runtime::Bootstrap(Options(kAtOnce));
  const at::Device device = TensorDevice(*runtime);
  std::atomic<int> highest{0};
  double seconds = 0;
  for (int round = 0; round < kRounds; ++round) {
    seconds += RunWorkers(*runtime, kAtOnce, [&](int thread, auto& context) {
      const runtime::ForwardScope scope(*runtime, context);
      RunToHost(Operators()[thread % Operators().size()], device, thread, context);
      const int slot = context.stream().slot;
      for (int seen = highest; seen < slot && !highest.compare_exchange_weak(seen, slot);) {
      }
    });
  }
  const runtime::StreamPool::Stats stats = runtime->stream_pool().stats();
  EXPECT_EQ(stats.leased, 0);
  EXPECT_EQ(stats.leases_total, static_cast<uint64_t>(kRounds * kAtOnce));
  EXPECT_EQ(stats.refusals_total, 0u);
  // Freed slots are used again before fresh ones.
  EXPECT_LE(highest, kAtOnce);
  Report("thread_churn",
         std::to_string(kRounds * kAtOnce) + " threads, " + std::to_string(stats.leased) +
             " slots leaked, highest slot " + std::to_string(highest) + ", " +
             std::to_string(static_cast<int>(kRounds * kAtOnce / seconds)) + " first forwards/s");
}

}  // namespace
}  // namespace millrace::conformance
