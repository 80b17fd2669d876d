#include "mps_runtime/stream_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>

#include "mps_runtime/base/joining_thread.h"
#include "mps_runtime/errors.h"
#include "tests/fakes/at_once.h"

namespace millrace::runtime {
namespace {

TEST(StreamPoolTest, MainThreadHasSlotZeroAndNoOther) {
  StreamPool pool(DeviceType::kMps);
  EXPECT_EQ(pool.MainStream(), (Stream{DeviceType::kMps, 0}));
  EXPECT_THROW(pool.LeaseStream(), StreamError);
  EXPECT_EQ(pool.stats().leases_total, 0u);
}

TEST(StreamPoolTest, WorkerThreadsCannotHaveSlotZero) {
  StreamPool pool(DeviceType::kCpu);
  JoiningThread([&] { EXPECT_THROW(pool.MainStream(), StreamError); });
}

TEST(StreamPoolTest, OneLeaseForOneThread) {
  StreamPool pool(DeviceType::kCpu);
  JoiningThread([&] {
    {
      const StreamPool::Lease lease = pool.LeaseStream();
      EXPECT_THROW(pool.LeaseStream(), StreamError);
      EXPECT_EQ(pool.stats().leased, 1);
    }
    EXPECT_NO_THROW(pool.LeaseStream());
  });
  EXPECT_EQ(pool.stats().leased, 0);
  EXPECT_EQ(pool.stats().leases_total, 2u);
}

TEST(StreamPoolTest, MovedLeaseReturnsItsSlotOnce) {
  StreamPool pool(DeviceType::kCpu);
  JoiningThread([&] {
    StreamPool::Lease first = pool.LeaseStream();
    const int slot = first.stream().slot;
    {
      const StreamPool::Lease second = std::move(first);
      EXPECT_EQ(second.stream().slot, slot);
      EXPECT_THROW((void)first.stream(), StreamError);
    }
    EXPECT_EQ(pool.stats().leased, 0);
  });
}

TEST(StreamPoolTest, LastFreedSlotIsReusedFirst) {
  StreamPool pool(DeviceType::kCpu);
  int first = 0, second = 0;
  JoiningThread([&] { first = pool.LeaseStream().stream().slot; }).join();
  JoiningThread([&] { second = pool.LeaseStream().stream().slot; }).join();
  EXPECT_EQ(first, 1);
  EXPECT_EQ(second, first);
}

TEST(StreamPoolTest, ExceptionReturnsTheSlot) {
  StreamPool pool(DeviceType::kCpu);
  JoiningThread([&] {
    try {
      const StreamPool::Lease lease = pool.LeaseStream();
      throw std::runtime_error("a forward failed");
    } catch (const std::runtime_error&) {
    }
    EXPECT_EQ(pool.stats().leased, 0);
  });
}

TEST(StreamPoolTest, StreamIsOnlyForItsOwnThread) {
  StreamPool pool(DeviceType::kCpu);
  JoiningThread([&] {
    const StreamPool::Lease lease = pool.LeaseStream();
    JoiningThread([&] { EXPECT_THROW((void)lease.stream(), StreamError); });
    EXPECT_EQ(lease.stream().slot, 1);
  });
}

// All 31 slots are out at once, on 31 threads, and more threads than that ask at the same time.
TEST(StreamPoolTest, HandsOutEverySlotOnceAndRefusesTheRest) {
  constexpr int kThreads = kWorkerSlots + 9;
  StreamPool pool(DeviceType::kCpu);
  std::latch asked(kThreads);
  std::mutex mu;
  std::set<int> slots;
  std::atomic<int> refused{0};
  testing::AtOnce(kThreads, [&] {
    try {
      const StreamPool::Lease lease = pool.LeaseStream();
      {
        const std::scoped_lock lock(mu);
        slots.insert(lease.stream().slot);
      }
      asked.arrive_and_wait();
    } catch (const StreamPoolExhausted&) {
      ++refused;
      asked.count_down();
    }
  });
  EXPECT_EQ(slots.size(), static_cast<size_t>(kWorkerSlots));
  EXPECT_EQ(*slots.begin(), 1);
  EXPECT_EQ(*slots.rbegin(), kWorkerSlots);
  EXPECT_EQ(refused, kThreads - kWorkerSlots);
  const StreamPool::Stats stats = pool.stats();
  EXPECT_EQ(stats.leased, 0);
  EXPECT_EQ(stats.leases_total, static_cast<uint64_t>(kWorkerSlots));
  EXPECT_EQ(stats.refusals_total, static_cast<uint64_t>(kThreads - kWorkerSlots));
}

TEST(StreamPoolTest, NoSlotIsEverSharedUnderChurn) {
  constexpr int kThreads = 16;
  constexpr int kRounds = 2000;
  StreamPool pool(DeviceType::kCpu);
  std::array<int, kStreamSlots>
      plain_use{};  // unsynchronised on purpose: TSan reports a shared slot
  testing::AtOnce(kThreads, [&] {
    for (int round = 0; round < kRounds; ++round) {
      const StreamPool::Lease lease = pool.LeaseStream();
      ++plain_use[lease.stream().slot];
    }
  });
  int sum = 0;
  for (const int uses : plain_use) sum += uses;
  EXPECT_EQ(sum, kThreads * kRounds);
  EXPECT_EQ(plain_use[kDefaultSlot], 0);
  EXPECT_EQ(pool.stats().leases_total, static_cast<uint64_t>(kThreads * kRounds));
}

TEST(StreamPoolDeathTest, ReturningOnAnotherThreadEndsTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        StreamPool pool(DeviceType::kCpu);
        std::unique_ptr<StreamPool::Lease> lease;
        JoiningThread([&] {
          lease = std::make_unique<StreamPool::Lease>(pool.LeaseStream());
        }).join();
        lease.reset();
      },
      "stream 1 was returned on another thread");
}

TEST(StreamPoolDeathTest, DyingWithLeasesOutEndsTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(JoiningThread([] {
                 auto pool = std::make_unique<StreamPool>(DeviceType::kCpu);
                 StreamPool* view = pool.get();
                 JoiningThread([&] {
                   const StreamPool::Lease lease = view->LeaseStream();
                   pool.reset();
                 });
               }),
               "stream pool destroyed while 1 streams are leased");
}

}  // namespace
}  // namespace millrace::runtime
