#include "server/control/shutdown_sequence.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <thread>

#include "mps_runtime/base/joining_thread.h"
#include "server/control/exit_guard.h"
#include "tests/fakes/fake_clock.h"

namespace millrace::server {
namespace {

using std::chrono::hours;
using std::chrono::seconds;
using testing::FakeClock;

constexpr int kNone = -1;

// This thread is the main one, and sometimes does not come.
class ShutdownSequenceTest : public ::testing::Test {
 protected:
  // Moves the clock until the process would have ended.
  int AwaitExit() {
    while (exit_ == kNone) {
      clock_.Advance(seconds(1));
      std::this_thread::yield();
    }
    return exit_;
  }

  FakeClock clock_;
  std::atomic<int> exit_{kNone};
  std::atomic<int> interrupts_{0};
  std::atomic<int> drains_{0};
  std::atomic<bool> release_{false};
  ExitGuard guard_{[this](int status) { exit_ = status; }, clock_};
  ShutdownSequence sequence_{[this] { ++interrupts_; }, guard_,
                             [this](int status) { exit_ = status; }, clock_};
};

TEST_F(ShutdownSequenceTest, WithoutASignalTheDrainRunsWhereItIsAwaited) {
  sequence_.SetDrain([this, main = std::this_thread::get_id()] {
    EXPECT_EQ(std::this_thread::get_id(), main);
    ++drains_;
  });
  sequence_.Await();
  sequence_.Await();
  EXPECT_EQ(drains_, 1);
  EXPECT_EQ(interrupts_, 0);
  EXPECT_EQ(sequence_.exit_status(), 0);
}

TEST_F(ShutdownSequenceTest, ASignalDrainsOnceAndCallsTheMainThread) {
  sequence_.SetDrain([this] { ++drains_; });
  EXPECT_FALSE(sequence_.requested());
  sequence_.OnSignal(SIGINT);
  EXPECT_TRUE(sequence_.requested());
  EXPECT_EQ(interrupts_, 1);
  sequence_.Await();
  EXPECT_EQ(drains_, 1);
  EXPECT_EQ(sequence_.signal(), SIGINT);
  EXPECT_EQ(sequence_.exit_status(), 0);
  EXPECT_EQ(exit_, kNone);
}

TEST_F(ShutdownSequenceTest, DrainsThoughTheMainThreadIsBusyAndEndsWithoutIt) {
  sequence_.SetDrain([this] { ++drains_; });
  sequence_.OnSignal(SIGTERM);
  EXPECT_EQ(AwaitExit(), 0);
  EXPECT_EQ(drains_, 1);
}

TEST_F(ShutdownSequenceTest, DrainWaitsForTheStart) {
  sequence_.OnSignal(SIGTERM);
  sequence_.SetDrain([this] { ++drains_; });
  sequence_.Await();
  EXPECT_EQ(drains_, 1);
  EXPECT_EQ(exit_, kNone);
}

TEST_F(ShutdownSequenceTest, EndsWithoutAStartThatHangs) {
  sequence_.OnSignal(SIGTERM);
  EXPECT_EQ(AwaitExit(), 0);
  EXPECT_EQ(drains_, 0);
}

TEST_F(ShutdownSequenceTest, TheMainThreadHasTimeToTakeDown) {
  sequence_.SetDrain([] {});
  sequence_.OnSignal(SIGTERM);
  sequence_.Await();
  clock_.Advance(ShutdownSequence::kTeardownGrace - seconds(1));
  EXPECT_EQ(exit_, kNone);
  EXPECT_EQ(AwaitExit(), 1);
}

TEST_F(ShutdownSequenceTest, ASecondSignalCutsTheWaitShortAndShowsInTheStatus) {
  std::atomic<bool> waits{false};
  std::atomic<bool> patient{true};
  sequence_.SetDrain([&] {
    waits = true;
    patient = sequence_.WaitUnlessForced(hours(1));
  });
  sequence_.OnSignal(SIGTERM);
  while (!waits) std::this_thread::yield();
  EXPECT_FALSE(sequence_.forced());
  sequence_.OnSignal(SIGINT);
  sequence_.Await();
  EXPECT_TRUE(sequence_.forced());
  EXPECT_FALSE(patient);
  EXPECT_EQ(sequence_.exit_status(), 128 + SIGINT);
  EXPECT_EQ(exit_, kNone);
}

TEST_F(ShutdownSequenceTest, AfterASecondSignalNothingMayTakeLong) {
  sequence_.SetDrain([this] {  // hangs, say for a lock
    while (!release_) std::this_thread::yield();
  });
  sequence_.OnSignal(SIGTERM);
  sequence_.OnSignal(SIGTERM);
  clock_.Advance(ShutdownSequence::kForcedGrace);
  while (exit_ == kNone) std::this_thread::yield();
  EXPECT_EQ(exit_, 128 + SIGTERM);
  release_ = true;
}

TEST_F(ShutdownSequenceTest, AThirdSignalIsObeyedAtOnce) {
  sequence_.SetDrain([this] {
    while (!release_) std::this_thread::yield();
  });
  sequence_.OnSignal(SIGTERM);
  sequence_.OnSignal(SIGTERM);
  sequence_.OnSignal(SIGINT);
  EXPECT_EQ(exit_, 128 + SIGINT);
  release_ = true;
}

TEST_F(ShutdownSequenceTest, WaitsForTheTimeWithoutASecondSignal) {
  sequence_.SetDrain([] {});
  sequence_.OnSignal(SIGTERM);
  std::atomic<bool> patient{false};
  {
    const JoiningThread waiter([&] { patient = sequence_.WaitUnlessForced(seconds(3)); });
    while (!patient) {
      clock_.Advance(seconds(1));
      std::this_thread::yield();
    }
  }
  EXPECT_TRUE(patient);
  EXPECT_TRUE(sequence_.WaitUnlessForced(seconds(0)));
}

TEST(ExitGuardTest, OfTwoOrdersTheFirstDueHolds) {
  FakeClock clock;
  std::atomic<int> exit{kNone};
  {
    ExitGuard guard([&](int status) { exit = status; }, clock);
    guard.Arm(seconds(20), 1, "slow");
    guard.Arm(seconds(5), 2, "forced");
    guard.Arm(seconds(10), 3, "later");
    while (exit == kNone) {
      clock.Advance(seconds(1));
      std::this_thread::yield();
    }
    EXPECT_EQ(exit, 2);
  }
}

TEST(ExitGuardTest, OneThatIsGoneEndsNothing) {
  FakeClock clock;
  {
    ExitGuard guard([](int) { ADD_FAILURE() << "ended the process"; }, clock);
    guard.Arm(seconds(5), 1, "slow");
  }
  clock.Advance(seconds(10));
}

}  // namespace
}  // namespace millrace::server
