#include "server/control/periodic.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <new>
#include <thread>

#include "tests/fakes/fake_clock.h"

namespace millrace::server {
namespace {

using std::chrono::seconds;

TEST(PeriodicTest, CallsOnceAnIntervalOnAThreadOfItsOwn) {
  testing::FakeClock clock;
  std::atomic<int> calls{0};
  const Periodic periodic(
      seconds(1),
      [&, main = std::this_thread::get_id()] {
        EXPECT_NE(std::this_thread::get_id(), main);
        ++calls;
      },
      clock);
  for (int expected = 1; expected <= 3; ++expected) {
    // The next interval begins on its thread, some time after the last call.
    while (calls.load() < expected) {
      clock.Advance(seconds(1));
      std::this_thread::yield();
    }
  }
}

TEST(PeriodicTest, ACallThatThrowsIsNotTheLast) {
  testing::FakeClock clock;
  std::atomic<int> calls{0};
  const Periodic periodic(
      seconds(1),
      [&] {
        ++calls;
        throw std::bad_alloc();
      },
      clock);
  while (calls.load() < 2) {
    clock.Advance(seconds(1));
    std::this_thread::yield();
  }
}

TEST(PeriodicTest, NothingHappensBeforeTheFirstIntervalIsOver) {
  testing::FakeClock clock;
  std::atomic<int> calls{0};
  {
    const Periodic periodic(
        seconds(2), [&] { ++calls; }, clock);
    clock.Advance(seconds(1));
  }
  EXPECT_EQ(calls.load(), 0);
}

TEST(PeriodicTest, ItsEndWaitsForACallThatRuns) {
  testing::FakeClock clock;
  std::atomic<bool> inside{false};
  std::atomic<bool> finished{false};
  {
    const Periodic periodic(
        seconds(1),
        [&] {
          inside = true;
          for (int i = 0; i < 1000; ++i) std::this_thread::yield();
          finished = true;
        },
        clock);
    while (!inside.load()) {
      clock.Advance(seconds(1));
      std::this_thread::yield();
    }
  }
  EXPECT_TRUE(finished.load());
}

}  // namespace
}  // namespace millrace::server
