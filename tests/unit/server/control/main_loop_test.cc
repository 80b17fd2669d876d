#include "server/control/main_loop.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <barrier>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <memory>
#include <thread>
#include <vector>

#include "tests/fakes/joining_thread.h"

namespace millrace::server {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using testing::JoiningThread;

TEST(MainLoop, RunsTasksInOrderOnItsThreadUntilASignal) {
  MainLoop loop;
  std::vector<int> order;
  for (int i = 0; i < 3; ++i) {
    loop.Post([&, i, main = std::this_thread::get_id()] {
      EXPECT_EQ(std::this_thread::get_id(), main);
      order.push_back(i);
    });
  }
  loop.Post([] { raise(SIGTERM); });
  EXPECT_EQ(loop.RunUntilSignal(), SIGTERM);
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(MainLoop::signals(), 1);
}

TEST(MainLoop, TasksBehindTheSignalAreNotRun) {
  MainLoop loop;
  loop.Post([] { raise(SIGTERM); });
  loop.Post([] { ADD_FAILURE() << "ran although the process should stop"; });
  EXPECT_EQ(loop.RunUntilSignal(), SIGTERM);
  loop.CloseTasks();
}

TEST(MainLoop, AnInterruptStopsIt) {
  MainLoop loop;
  loop.Post([] { raise(SIGINT); });
  EXPECT_EQ(loop.RunUntilSignal(), SIGINT);
}

TEST(MainLoop, StartsWithoutTheSignalsOfAnEarlierOne) {
  {
    MainLoop loop;
    raise(SIGTERM);
    EXPECT_EQ(loop.RunUntilSignal(), SIGTERM);
  }
  MainLoop loop;
  bool ran = false;
  loop.Post([&] {
    ran = true;
    raise(SIGINT);
  });
  EXPECT_EQ(loop.RunUntilSignal(), SIGINT);
  EXPECT_TRUE(ran);
}

TEST(MainLoop, TaskMayPostAnother) {
  MainLoop loop;
  loop.Post([&] { loop.Post([] { raise(SIGTERM); }); });
  EXPECT_EQ(loop.RunUntilSignal(), SIGTERM);
}

TEST(MainLoop, RunsEveryTaskOfManyThreadsOnce) {
  constexpr int kThreads = 16;
  constexpr int kEach = 50;
  MainLoop loop;
  std::vector<int> next(kThreads, 0);  // touched by the loop's thread only
  int ran = 0;
  std::barrier start(kThreads);
  std::vector<JoiningThread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      start.arrive_and_wait();
      for (int i = 0; i < kEach; ++i) {
        loop.Post([&, t, i] {
          EXPECT_EQ(next[t]++, i);  // those of a thread in its order
          if (++ran == kThreads * kEach) raise(SIGTERM);
        });
      }
    });
  }
  EXPECT_EQ(loop.RunUntilSignal(), SIGTERM);
  EXPECT_EQ(ran, kThreads * kEach);
}

TEST(MainLoop, ClosedOneDestroysTasksWithoutRunningThem) {
  MainLoop loop;
  const auto held = std::make_shared<int>(0);
  const auto never = [held] { ADD_FAILURE() << "a dropped task ran"; };
  loop.Post(never);
  EXPECT_EQ(held.use_count(), 3);
  loop.CloseTasks();
  EXPECT_EQ(held.use_count(), 2);
  loop.Post(never);
  EXPECT_EQ(held.use_count(), 2);
  loop.CloseTasks();
  raise(SIGTERM);
  EXPECT_EQ(loop.RunUntilSignal(), SIGTERM);
}

// What a task holds may post when it goes, as the end of a call does.
TEST(MainLoop, DroppedTaskMayPostFromItsDestructor) {
  MainLoop loop;
  bool destroyed = false;
  const auto post_at_end = [&](int*) {
    loop.Post([] { ADD_FAILURE() << "ran after the end"; });
    destroyed = true;
  };
  auto held = std::shared_ptr<int>(nullptr, post_at_end);
  loop.Post([held] {});
  held.reset();
  loop.CloseTasks();
  EXPECT_TRUE(destroyed);
}

TEST(MainLoop, WaitsForTheTimeWithoutASignal) {
  MainLoop loop;
  const auto start = std::chrono::steady_clock::now();
  EXPECT_TRUE(loop.WaitWithoutSignal(milliseconds(30)));
  EXPECT_GE(std::chrono::steady_clock::now() - start, milliseconds(30));
  EXPECT_TRUE(loop.WaitWithoutSignal(milliseconds(0)));
}

TEST(MainLoop, PostedTaskDoesNotEndTheWait) {
  MainLoop loop;
  loop.Post([] { ADD_FAILURE() << "a wait runs nothing"; });
  const auto start = std::chrono::steady_clock::now();
  EXPECT_TRUE(loop.WaitWithoutSignal(milliseconds(30)));
  EXPECT_GE(std::chrono::steady_clock::now() - start, milliseconds(30));
  loop.CloseTasks();
}

TEST(MainLoop, FurtherSignalCutsTheWaitShort) {
  MainLoop loop;
  raise(SIGTERM);
  std::atomic<bool> done{false};
  const JoiningThread impatient([&] {
    while (!done) {
      kill(getpid(), SIGTERM);
      std::this_thread::yield();
    }
  });
  EXPECT_FALSE(loop.WaitWithoutSignal(hours(1)));
  done = true;
  EXPECT_GE(MainLoop::signals(), 2);
}

TEST(MainLoop, WriteToAClientThatHungUpIsAnError) {
  MainLoop loop;
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  close(ends[0]);
  EXPECT_EQ(write(ends[1], "x", 1), -1);
  EXPECT_EQ(errno, EPIPE);
  close(ends[1]);
}

TEST(MainLoop, GivesTheSignalsBackAtItsEnd) {
  { const MainLoop loop; }
  for (const int signal : {SIGTERM, SIGINT}) {
    struct sigaction now = {};
    sigaction(signal, nullptr, &now);
    EXPECT_EQ(now.sa_handler, SIG_DFL);
  }
}

}  // namespace
}  // namespace millrace::server
