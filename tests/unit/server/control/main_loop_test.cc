#include "server/control/main_loop.h"

#include <gtest/gtest.h>

#include <barrier>
#include <memory>
#include <thread>
#include <vector>

#include "mps_runtime/base/joining_thread.h"

namespace millrace::server {
namespace {

TEST(MainLoopTest, RunsTasksInOrderOnItsThreadUntilItStops) {
  MainLoop loop;
  std::vector<int> order;
  for (int i = 0; i < 3; ++i) {
    loop.Post([&, i, main = std::this_thread::get_id()] {
      EXPECT_EQ(std::this_thread::get_id(), main);
      order.push_back(i);
    });
  }
  loop.Post([&] { loop.Stop(); });
  loop.Run();
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2}));
}

TEST(MainLoopTest, TasksBehindTheStopAreNotRun) {
  MainLoop loop;
  loop.Post([&] { loop.Stop(); });
  loop.Post([] { ADD_FAILURE() << "ran although the process should stop"; });
  loop.Run();
  loop.CloseTasks();
}

TEST(MainLoopTest, OneThatWasStoppedBeforeItRanRunsNothing) {
  MainLoop loop;
  loop.Post([] { ADD_FAILURE() << "ran although the process should stop"; });
  loop.Stop();
  loop.Run();
}

TEST(MainLoopTest, TaskMayPostAnother) {
  MainLoop loop;
  loop.Post([&] { loop.Post([&] { loop.Stop(); }); });
  loop.Run();
}

TEST(MainLoopTest, RunsEveryTaskOfManyThreadsOnce) {
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
          EXPECT_EQ(next[t]++, i);  // a thread's calls come in its order
          if (++ran == kThreads * kEach) loop.Stop();
        });
      }
    });
  }
  loop.Run();
  EXPECT_EQ(ran, kThreads * kEach);
}

TEST(MainLoopTest, ClosedOneDestroysTasksWithoutRunningThem) {
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
  loop.Stop();
  loop.Run();
}

// An object that a task holds may post when it goes, as the end of a call does.
TEST(MainLoopTest, DroppedTaskMayPostFromItsDestructor) {
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

}  // namespace
}  // namespace millrace::server
