#include "models/kernels/parallel_for.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <stdexcept>
#include <vector>

#include "models/kernels/channel_moments.h"
#include "tests/fakes/threads_loop_runner.h"

namespace millrace::kernels {
namespace {

using ::testing::ElementsAre;
using testing::ThreadsLoopRunner;

// Runs the parts of a loop from the last to the first.
class BackwardRunner final : public LoopRunner {
 public:
  int Width() const override { return 3; }
  void Run(int64_t parts, LoopBody body) override {
    ++loops;
    for (int64_t part = parts - 1; part >= 0; --part) body(part);
  }

  int loops = 0;
};

TEST(ParallelForTest, WithoutARunnerPartsRunInTheirOrder) {
  std::vector<int64_t> parts;
  EXPECT_EQ(ParallelWidth(), 1);
  ParallelFor(3, [&](int64_t part) { parts.push_back(part); });
  EXPECT_THAT(parts, ElementsAre(0, 1, 2));
}

TEST(ParallelForTest, ARunnerServesItsThreadForAScope) {
  BackwardRunner runner;
  std::vector<int64_t> parts;
  {
    const ScopedLoopRunner scope(&runner);
    EXPECT_EQ(ParallelWidth(), 3);
    ParallelFor(3, [&](int64_t part) { parts.push_back(part); });
    const JoiningThread other([] { EXPECT_EQ(ParallelWidth(), 1); });
  }
  EXPECT_EQ(ParallelWidth(), 1);
  EXPECT_THAT(parts, ElementsAre(2, 1, 0));
}

TEST(ParallelForTest, ALoopOfOnePartNeedsNobody) {
  BackwardRunner runner;
  const ScopedLoopRunner scope(&runner);
  int runs = 0;
  ParallelFor(0, [&](int64_t) { ++runs; });
  ParallelFor(1, [&](int64_t) { ++runs; });
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(runner.loops, 0);
}

TEST(ParallelForTest, LoopsWithinAPartRunOnItsThread) {
  BackwardRunner runner;
  const ScopedLoopRunner scope(&runner);
  std::vector<int64_t> inner;
  ParallelFor(2, [&](int64_t) {
    EXPECT_EQ(ParallelWidth(), 1);
    ParallelFor(2, [&](int64_t part) { inner.push_back(part); });
  });
  EXPECT_THAT(inner, ElementsAre(0, 1, 0, 1));
  EXPECT_EQ(runner.loops, 1);
}

TEST(ParallelForTest, AFailureLeavesTheRunnerInPlace) {
  BackwardRunner runner;
  const ScopedLoopRunner scope(&runner);
  EXPECT_THROW(ParallelFor(2, [](int64_t) { throw std::runtime_error("part"); }),
               std::runtime_error);
  EXPECT_EQ(ParallelWidth(), 3);
}

TEST(ChannelMomentsTest, RowsMayBeAddedInAnyOrderByAnyThread) {
  constexpr int64_t kChannels = 48;
  constexpr int64_t kRows = 10 * ChannelMoments::kRowsOfSum + 17;
  std::mt19937 random(1);
  std::normal_distribution<float> normal(20, 3);
  std::vector<float> rows(kRows * kChannels);
  for (float& value : rows) value = normal(random);
  ChannelMoments whole(kChannels);
  whole.Begin(kRows, rows.data());
  whole.Add(0, rows.data(), kRows);
  whole.End();
  EXPECT_NEAR(whole.Mean(5), 20, 1);
  EXPECT_NEAR(whole.Variance(5), 9, 2);

  ThreadsLoopRunner runner(4);
  const ScopedLoopRunner scope(&runner);
  ChannelMoments parts(kChannels);
  // Parts that were added before do not count.
  parts.Begin(2 * kRows, rows.data());
  parts.Begin(kRows, rows.data());
  ParallelFor(6, [&](int64_t part) {
    const int64_t begin = part * 2 * ChannelMoments::kRowsOfSum;
    parts.Add(begin, rows.data() + begin * kChannels,
              std::min(2 * ChannelMoments::kRowsOfSum, kRows - begin));
  });
  parts.End();
  for (int64_t c = 0; c < kChannels; ++c) {
    ASSERT_EQ(parts.Mean(c), whole.Mean(c)) << c;
    ASSERT_EQ(parts.Variance(c), whole.Variance(c)) << c;
  }
}

}  // namespace
}  // namespace millrace::kernels
