#include "server/rpc/background_thread.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <barrier>
#include <deque>
#include <latch>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "mps_runtime/base/joining_thread.h"
#include "tests/unit/server/rpc/letter.h"

namespace millrace::server {
namespace {

using ::testing::ElementsAre;

TEST(BackgroundThreadTest, DeliversOnAThreadOfItsOwn) {
  std::thread::id delivered_on;
  Letter letter([&] { delivered_on = std::this_thread::get_id(); });
  std::optional<BackgroundThread> thread(std::in_place);
  thread->Post(letter);
  thread.reset();
  EXPECT_NE(delivered_on, std::thread::id());
  EXPECT_NE(delivered_on, std::this_thread::get_id());
}

TEST(BackgroundThreadTest, DeliversInTheOrderOfPostingWhateverWaitsAtTheEndIncluded) {
  std::latch posted(1);
  std::vector<int> delivered;
  Letter first([&] {
    posted.wait();
    delivered.push_back(1);
  });
  Letter second([&] { delivered.push_back(2); });
  Letter third([&] { delivered.push_back(3); });
  {
    BackgroundThread thread;
    for (Letter* letter : {&first, &second, &third}) thread.Post(*letter);
    posted.count_down();
  }
  EXPECT_THAT(delivered, ElementsAre(1, 2, 3));
}

TEST(BackgroundThreadTest, PostReturnsWhileALetterIsBeingDelivered) {
  std::latch inside(1);
  std::latch posted(1);
  Letter blocks([&] {
    inside.count_down();
    posted.wait();
  });
  bool delivered = false;
  Letter next([&] { delivered = true; });
  {
    BackgroundThread thread;
    thread.Post(blocks);
    inside.wait();
    thread.Post(next);
    posted.count_down();
  }
  EXPECT_TRUE(delivered);
}

TEST(BackgroundThreadTest, LetterMayPostItselfAndOthersAsItIsDelivered) {
  std::vector<int> delivered;
  std::optional<BackgroundThread> thread(std::in_place);
  Letter other([&] { delivered.push_back(2); });
  Letter again([&] {
    delivered.push_back(1);
    if (delivered.size() != 1) return;
    thread->Post(other);
    thread->Post(again);
  });
  thread->Post(again);
  thread.reset();
  EXPECT_THAT(delivered, ElementsAre(1, 2, 1));
}

TEST(BackgroundThreadRaceTest, ManyThreadsPostAndNothingIsLost) {
  constexpr int kThreads = 8;
  constexpr int kLetters = 500;
  for (int round = 0; round < 10; ++round) {
    std::vector<std::vector<int>> delivered(kThreads);
    std::vector<std::deque<Letter>> letters(kThreads);
    BackgroundThread thread;
    std::barrier start(kThreads);
    std::vector<JoiningThread> posts;
    for (int t = 0; t < kThreads; ++t) {
      for (int i = 0; i < kLetters; ++i)
        letters[t].emplace_back([&delivered, t, i] { delivered[t].push_back(i); });
      posts.emplace_back([&, t] {
        start.arrive_and_wait();
        for (Letter& letter : letters[t]) thread.Post(letter);
      });
    }
    posts.clear();
    std::latch all(1);
    Letter last([&] { all.count_down(); });
    thread.Post(last);
    all.wait();
    for (const std::vector<int>& of_thread : delivered) {
      ASSERT_EQ(of_thread.size(), kLetters);
      for (int i = 0; i < kLetters; ++i) ASSERT_EQ(of_thread[i], i);
    }
  }
}

}  // namespace
}  // namespace millrace::server
