#include "models/kernels/parallel_panels.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <random>
#include <vector>

#include "models/kernels/packed_linear.h"
#include "tests/fakes/threads_loop_runner.h"

namespace millrace::kernels {
namespace {

constexpr int64_t kMuch = int64_t{1} << 30;

// Returns how often each of `panels` panels was computed.
std::vector<int> Visits(int64_t panels, int64_t products) {
  std::vector<std::atomic<int>> visits(static_cast<size_t>(panels));
  ForPanels(panels, products, [&](int64_t first, int64_t last) {
    EXPECT_LT(first, last);
    for (int64_t panel = first; panel < last; ++panel) ++visits[static_cast<size_t>(panel)];
  });
  return {visits.begin(), visits.end()};
}

TEST(ParallelPanelsTest, EachPanelIsComputedOnce) {
  testing::ThreadsLoopRunner runner(4);
  const ScopedLoopRunner scope(&runner);
  for (const int64_t panels : {1, 2, 7, 8, 9, 64}) {
    EXPECT_EQ(Visits(panels, kMuch), std::vector<int>(static_cast<size_t>(panels), 1)) << panels;
  }
  EXPECT_GT(runner.loops(), 0);
}

TEST(ParallelPanelsTest, ASmallProductIsNotDivided) {
  testing::ThreadsLoopRunner runner(4);
  const ScopedLoopRunner scope(&runner);
  EXPECT_EQ(Visits(64, 1000), std::vector<int>(64, 1));
  EXPECT_EQ(runner.loops(), 0);
}

TEST(ParallelPanelsTest, WithoutOtherThreadsTheRangeIsWhole) {
  int calls = 0;
  ForPanels(64, kMuch, [&](int64_t first, int64_t last) {
    ++calls;
    EXPECT_EQ(first, 0);
    EXPECT_EQ(last, 64);
  });
  EXPECT_EQ(calls, 1);
}

// Layers in each precision give the same bits, however their panels are divided.
TEST(ParallelPanelsTest, LayersGiveTheSameBits) {
  constexpr int64_t kRows = 9;
  constexpr int64_t kInputs = 512;
  constexpr int64_t kOutputs = 1030;
  std::mt19937 random(3);
  std::normal_distribution<float> any;
  std::vector<float> a(kRows * kInputs);
  std::vector<float> weights(kOutputs * kInputs);
  std::vector<float> bias(kOutputs);
  for (std::vector<float>* values : {&a, &weights, &bias}) {
    for (float& value : *values) value = any(random);
  }
  for (const Precision precision : {Precision::kFloat32, Precision::kBfloat16, Precision::kInt8}) {
    const FloatLinear linear = {{weights.data(), kOutputs, kInputs}, bias};
    const PackedLinear packed(std::span(&linear, 1), LinearKernels::For(precision));
    const auto multiply = [&] {
      Scratch scratch;
      std::vector<float> out(static_cast<size_t>(kRows * packed.width()));
      packed.Multiply(a.data(), kInputs, kRows, scratch, out.data());
      return out;
    };
    const std::vector<float> alone = multiply();
    for (const int threads : {2, 8}) {
      testing::ThreadsLoopRunner runner(threads);
      const ScopedLoopRunner scope(&runner);
      const std::vector<float> together = multiply();
      EXPECT_EQ(std::memcmp(together.data(), alone.data(), alone.size() * sizeof(float)), 0)
          << static_cast<int>(precision) << " on " << threads;
      EXPECT_EQ(runner.loops(), 1);
    }
  }
}

}  // namespace
}  // namespace millrace::kernels
