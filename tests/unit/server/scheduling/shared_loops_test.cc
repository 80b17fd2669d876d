#include "server/scheduling/shared_loops.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <chrono>
#include <cstdint>
#include <latch>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "mps_runtime/base/joining_thread.h"
#include "tests/fakes/fake_clock.h"

namespace millrace::server {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

// These tests hang until their time limit when an owner or a helper waits for nothing.
class SharedLoopsTest : public ::testing::Test {
 protected:
  // Runs parts on other threads until the helpers are destroyed.
  class Helpers {
   public:
    Helpers(SharedLoops& loops, int count) {
      for (int i = 0; i < count; ++i) {
        threads_.emplace_back([this, &loops] {
          while (!stop_) {
            if (!loops.HelpOnce()) std::this_thread::yield();
          }
        });
      }
    }
    ~Helpers() { stop_ = true; }

   private:
    std::atomic<bool> stop_{false};
    std::vector<JoiningThread> threads_;
  };

  testing::FakeClock clock_;
  std::atomic<int> wakes_{0};
  SharedLoops loops_{2, clock_, [this] { ++wakes_; }};
  SharedLoop& loop_ = loops_.of(0);
};

TEST_F(SharedLoopsTest, WithoutHelpersTheOwnerRunsThePartsInTheirOrder) {
  std::vector<int64_t> parts;
  EXPECT_EQ(loop_.Width(), 1);
  loop_.Run(3, [&](int64_t part) {
    EXPECT_FALSE(loops_.HasOpen());
    parts.push_back(part);
  });
  EXPECT_THAT(parts, ElementsAre(0, 1, 2));
  EXPECT_EQ(wakes_, 0);
}

TEST_F(SharedLoopsTest, AHelperRunsAPartBesideTheOwner) {
  loops_.SetHelpers(1, 0);
  EXPECT_EQ(loop_.Width(), 2);
  const Helpers helpers(loops_, 1);
  std::barrier both(2);
  loop_.Run(2, [&](int64_t) { both.arrive_and_wait(); });
  EXPECT_FALSE(loops_.HasOpen());
}

TEST_F(SharedLoopsTest, TheOwnerDoesNotWaitForAHelperThatHasNotBegun) {
  loops_.SetHelpers(1, 1);
  int parts = 0;
  loop_.Run(5, [&](int64_t) {
    EXPECT_TRUE(loops_.HasOpen());
    ++parts;
  });
  EXPECT_EQ(parts, 5);
  EXPECT_EQ(wakes_, 1);
  EXPECT_FALSE(loops_.HasOpen());
  EXPECT_FALSE(loops_.HelpOnce());
}

TEST_F(SharedLoopsTest, HelpersThatAppearTakeTheRestOfTheLoop) {
  const Helpers helpers(loops_, 1);
  std::barrier both(2);
  loop_.Run(4, [&](int64_t part) {
    if (part == 1) loops_.SetHelpers(1, 0);
    if (part >= 2) both.arrive_and_wait();
  });
}

TEST_F(SharedLoopsTest, TheOwnerWaitsForThePartsThatOthersHaveBegun) {
  loops_.SetHelpers(1, 0);
  std::latch begun(1);
  std::latch owner_done(1);
  std::atomic<bool> finished{false};
  const auto owner = std::this_thread::get_id();
  const JoiningThread helper([&] {
    while (!loops_.HelpOnce()) std::this_thread::yield();
  });
  loop_.Run(2, [&](int64_t) {
    if (std::this_thread::get_id() == owner) {
      begun.wait();
      owner_done.count_down();
    } else {
      begun.count_down();
      owner_done.wait();
      for (int i = 0; i < 1000; ++i) std::this_thread::yield();  // the owner sleeps by now
      finished = true;
    }
  });
  EXPECT_TRUE(finished);
}

TEST_F(SharedLoopsTest, WhatAHelperThrowsReachesTheOwnerOnce) {
  loops_.SetHelpers(1, 0);
  const auto owner = std::this_thread::get_id();
  {
    const Helpers helpers(loops_, 1);
    std::barrier both(2);
    std::string what;
    try {
      loop_.Run(2, [&](int64_t) {
        both.arrive_and_wait();
        if (std::this_thread::get_id() != owner) throw std::runtime_error("no memory");
      });
    } catch (const std::runtime_error& error) {
      what = error.what();
    }
    EXPECT_EQ(what, "no memory");
  }
  loop_.Run(2, [](int64_t) {});
}

TEST_F(SharedLoopsTest, AnOwnerThatThrowsWaitsForThePartsThatOthersHaveBegun) {
  loops_.SetHelpers(1, 0);
  const auto owner = std::this_thread::get_id();
  std::atomic<int> parts{0};
  {
    const Helpers helpers(loops_, 1);
    std::latch begun(1);
    std::latch thrown(1);
    std::atomic<bool> finished{false};
    const auto run = [&](int64_t) {
      ++parts;
      if (std::this_thread::get_id() == owner) {
        begun.wait();
        thrown.count_down();
        throw std::runtime_error("owner");
      }
      begun.count_down();
      thrown.wait();
      for (int i = 0; i < 100; ++i) std::this_thread::yield();
      finished = true;
      throw std::runtime_error("helper");
    };
    EXPECT_THROW(loop_.Run(1000, run), std::runtime_error);
    EXPECT_TRUE(finished);
  }
  // The helper may have taken another part before the loop was closed.
  EXPECT_LT(parts, 1000);
  loop_.Run(2, [](int64_t) {});  // the helper's failure went with the owner's
}

TEST_F(SharedLoopsTest, TellsTheTimeThatOthersTook) {
  loops_.SetHelpers(1, 0);
  const auto owner = std::this_thread::get_id();
  {
    const Helpers helpers(loops_, 1);
    std::barrier both(2);
    std::latch helped(1);
    loop_.Run(2, [&](int64_t) {
      both.arrive_and_wait();
      if (std::this_thread::get_id() == owner) {
        helped.wait();
      } else {
        clock_.Advance(std::chrono::milliseconds(7));
        helped.count_down();
      }
    });
  }
  EXPECT_EQ(loop_.TakeHelped(), std::chrono::milliseconds(7));
  EXPECT_EQ(loop_.TakeHelped(), Duration::zero());
}

// Two owners with loops of all lengths and eight helpers, some of which are late for every loop.
TEST_F(SharedLoopsTest, EachPartRunsOnceWhoeverHelps) {
  loops_.SetHelpers(8, 0);
  const Helpers helpers(loops_, 8);
  std::vector<JoiningThread> owners;
  for (int owner = 0; owner < 2; ++owner) {
    owners.emplace_back([this, owner] {
      for (int64_t loop = 0; loop < 2000; ++loop) {
        const int64_t parts = 2 + loop % 37;
        // They are not atomic: a part that runs twice is a data race too.
        std::vector<int> runs(static_cast<size_t>(parts));
        loops_.of(owner).Run(parts, [&](int64_t part) { ++runs[static_cast<size_t>(part)]; });
        ASSERT_THAT(runs, Each(1));
      }
    });
  }
}

}  // namespace
}  // namespace millrace::server
