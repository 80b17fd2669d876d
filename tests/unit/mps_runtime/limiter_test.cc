#include "mps_runtime/limiter.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include "mps_runtime/base/joining_thread.h"
#include "tests/fakes/at_once.h"
#include "tests/fakes/fake_clock.h"

namespace millrace::runtime {
namespace {

using std::chrono::milliseconds;

void AwaitWaiters(const Limiter& limiter, int count) {
  while (limiter.waiting() != count) std::this_thread::yield();
}

TEST(LimiterTest, GrantsUpToItsPermits) {
  Limiter limiter(2);
  {
    const auto first = limiter.TryAcquire();
    const auto second = limiter.TryAcquire();
    EXPECT_TRUE(first && second);
    EXPECT_FALSE(limiter.TryAcquire());
    EXPECT_EQ(limiter.in_use(), 2);
  }
  EXPECT_EQ(limiter.in_use(), 0);
  EXPECT_EQ(limiter.peak_in_use(), 2);
  EXPECT_EQ(limiter.permits(), 2);
}

TEST(LimiterTest, RefusesNoPermitsAtAll) {
  EXPECT_THROW(Limiter(0), std::invalid_argument);
  EXPECT_THROW(Limiter(-1), std::invalid_argument);
}

TEST(LimiterTest, MovedPermitIsGivenBackOnce) {
  Limiter limiter(1);
  {
    DevicePermit first = limiter.Acquire();
    const DevicePermit second = std::move(first);
    EXPECT_EQ(limiter.in_use(), 1);
  }
  EXPECT_EQ(limiter.in_use(), 0);
}

TEST(LimiterTest, AssignmentGivesBackTheOldPermit) {
  Limiter one(1), other(1);
  DevicePermit permit = one.Acquire();
  permit = other.Acquire();
  EXPECT_EQ(one.in_use(), 0);
  EXPECT_EQ(other.in_use(), 1);
}

TEST(LimiterTest, ExceptionGivesThePermitBack) {
  Limiter limiter(1);
  try {
    const DevicePermit permit = limiter.Acquire();
    throw std::runtime_error("a forward failed");
  } catch (const std::runtime_error&) {
  }
  EXPECT_EQ(limiter.in_use(), 0);
}

TEST(LimiterTest, PermitMayBeGivenBackOnAnotherThread) {
  Limiter limiter(1);
  auto permit = std::make_unique<DevicePermit>(limiter.Acquire());
  JoiningThread([&] { permit.reset(); }).join();
  EXPECT_TRUE(limiter.TryAcquire());
}

TEST(LimiterTest, WaitersAreServedInOrder) {
  constexpr int kWaiters = 16;
  Limiter limiter(1);
  std::vector<int> order;  // guarded by the permit itself
  std::vector<JoiningThread> threads;
  {
    const DevicePermit permit = limiter.Acquire();
    for (int i = 0; i < kWaiters; ++i) {
      threads.emplace_back([&, i] {
        const DevicePermit mine = limiter.Acquire();
        order.push_back(i);
      });
      AwaitWaiters(limiter, i + 1);
    }
    EXPECT_FALSE(limiter.TryAcquire());
  }
  threads.clear();
  for (int i = 0; i < kWaiters; ++i) EXPECT_EQ(order[i], i);
  EXPECT_EQ(limiter.in_use(), 0);
}

TEST(LimiterTest, NobodyOvertakesAWaiter) {
  Limiter limiter(1);
  auto permit = std::make_unique<DevicePermit>(limiter.Acquire());
  std::atomic<bool> leave{false};
  JoiningThread waiter([&] {
    const DevicePermit mine = limiter.Acquire();
    while (!leave) std::this_thread::yield();
  });
  AwaitWaiters(limiter, 1);
  permit.reset();
  // The permit went straight to the waiter, whether it has run since or not.
  EXPECT_FALSE(limiter.TryAcquire());
  EXPECT_EQ(limiter.in_use(), 1);
  EXPECT_EQ(limiter.waiting(), 0);
  leave = true;
}

// The second permit comes back before the first waiter has run: it is for the second waiter.
TEST(LimiterTest, PermitsThatComeBackTogetherServeDifferentWaiters) {
  for (int round = 0; round < 100; ++round) {
    Limiter limiter(2);
    std::vector<DevicePermit> permits;
    permits.push_back(limiter.Acquire());
    permits.push_back(limiter.Acquire());
    JoiningThread first([&] { limiter.Acquire(); });
    JoiningThread second([&] { limiter.Acquire(); });
    AwaitWaiters(limiter, 2);
    permits.clear();
  }
}

TEST(LimiterTest, FreePermitIsGrantedAfterTheDeadline) {
  testing::FakeClock clock;
  Limiter limiter(1, clock);
  EXPECT_TRUE(limiter.AcquireUntil(clock.Now() - milliseconds(1)));
}

TEST(LimiterTest, GivesUpAtTheDeadlineAndNotBefore) {
  testing::FakeClock clock;
  Limiter limiter(1, clock);
  const DevicePermit permit = limiter.Acquire();
  std::atomic<bool> gave_up{false};
  {
    JoiningThread waiter([&] {
      EXPECT_FALSE(limiter.AcquireUntil(clock.Now() + milliseconds(100)));
      gave_up = true;
    });
    AwaitWaiters(limiter, 1);
    clock.Advance(milliseconds(99));
    EXPECT_EQ(limiter.waiting(), 1);
    EXPECT_FALSE(gave_up);
    clock.Advance(milliseconds(1));
  }
  EXPECT_TRUE(gave_up);
  EXPECT_EQ(limiter.waiting(), 0);
  EXPECT_EQ(limiter.in_use(), 1);
}

TEST(LimiterTest, WaiterThatGaveUpLosesNoPermitForOthers) {
  testing::FakeClock clock;
  Limiter limiter(1, clock);
  auto permit = std::make_unique<DevicePermit>(limiter.Acquire());
  JoiningThread hasty([&] { EXPECT_FALSE(limiter.AcquireUntil(clock.Now() + milliseconds(10))); });
  AwaitWaiters(limiter, 1);
  JoiningThread patient([&] { limiter.Acquire(); });
  AwaitWaiters(limiter, 2);
  clock.Advance(milliseconds(10));
  hasty.join();
  permit.reset();
  patient.join();
  EXPECT_EQ(limiter.in_use(), 0);
}

// Deadlines expire while permits change hands: nothing may be lost or doubled.
TEST(LimiterTest, KeepsItsBoundUnderContention) {
  constexpr int kThreads = 16;
  constexpr int kRounds = 2000;
  constexpr int kPermits = 3;
  testing::FakeClock clock;
  Limiter limiter(kPermits, clock);
  std::atomic<int> inside{0}, most{0};
  std::atomic<uint64_t> granted{0}, gave_up{0};
  testing::AtOnce(kThreads, [&](int i) {
    for (int round = 0; round < kRounds; ++round) {
      std::optional<DevicePermit> permit;
      if (i % 4 == 0) {
        permit = limiter.AcquireUntil(clock.Now() + std::chrono::microseconds(round % 3));
        clock.Advance(std::chrono::microseconds(1));
      } else {
        permit = limiter.Acquire();
      }
      if (!permit) {
        ++gave_up;
        continue;
      }
      ++granted;
      const int now = ++inside;
      for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
      }
      --inside;
    }
  });
  EXPECT_LE(most, kPermits);
  EXPECT_LE(limiter.peak_in_use(), kPermits);
  EXPECT_EQ(granted + gave_up, uint64_t{kThreads} * kRounds);
  EXPECT_EQ(limiter.in_use(), 0);
  EXPECT_EQ(limiter.waiting(), 0);
}

// With one permit it is a mutex: an unsynchronised counter must come out right, and TSan must be
// content.
TEST(LimiterTest, OnePermitOrdersMemory) {
  constexpr int kThreads = 16;
  constexpr int kRounds = 5000;
  Limiter limiter(1);
  int64_t plain = 0;
  testing::AtOnce(kThreads, [&] {
    for (int round = 0; round < kRounds; ++round) {
      const DevicePermit permit = limiter.Acquire();
      ++plain;
    }
  });
  EXPECT_EQ(plain, int64_t{kThreads} * kRounds);
}

TEST(LimiterDeathTest, DyingWithPermitsOutEndsTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        auto limiter = std::make_unique<Limiter>(1);
        const DevicePermit permit = limiter->Acquire();
        limiter.reset();
      },
      "limiter destroyed while permits are in use");
}

}  // namespace
}  // namespace millrace::runtime
