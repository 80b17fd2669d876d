#include "models/speech/noise.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "models/kernels/parallel_for.h"
#include "tests/fakes/threads_loop_runner.h"

namespace millrace::speech {
namespace {

std::vector<float> Draw(uint64_t seed, uint64_t stream, size_t count) {
  std::vector<float> values(count);
  NoiseSource(seed, stream).Fill(values);
  return values;
}

TEST(NoiseSourceTest, DependsOnSeedAndStreamAlone) {
  EXPECT_EQ(Draw(1, 2, 101), Draw(1, 2, 101));
  EXPECT_NE(Draw(1, 2, 101), Draw(2, 2, 101));
  EXPECT_NE(Draw(1, 2, 101), Draw(1, 3, 101));
  EXPECT_NE(Draw(1, 2, 101), Draw(uint64_t{1} << 32 | 1, 2, 101));
}

TEST(NoiseSourceTest, ALongerDrawBeginsAsAShorterOne) {
  const std::vector<float> longer = Draw(5, 0, 64);
  EXPECT_EQ(Draw(5, 0, 7), std::vector<float>(longer.begin(), longer.begin() + 7));
}

TEST(NoiseSourceTest, TheNextDrawGoesOn) {
  NoiseSource source(5, 0);
  std::vector<float> first(8);
  std::vector<float> second(8);
  source.Fill(first);
  source.Fill(second);
  EXPECT_NE(first, second);
}

TEST(NoiseSourceTest, ThreadsTogetherDrawTheSameValues) {
  constexpr size_t kCount = 50'003;
  const std::vector<float> alone = Draw(5, 1, kCount);
  // In two draws of which the first ends within a block.
  NoiseSource source(5, 1);
  std::vector<float> again(kCount), more(8);
  testing::ThreadsLoopRunner runner(8);
  const kernels::ScopedLoopRunner scope(&runner);
  source.Fill(again);
  EXPECT_EQ(again, alone);
  EXPECT_EQ(runner.loops(), 1);
  source.Fill(more);
  EXPECT_EQ(more, [&] {
    const std::vector<float> longer = Draw(5, 1, kCount + 1 + 8);
    return std::vector<float>(longer.end() - 8, longer.end());
  }());
}

TEST(NoiseSourceTest, IsGaussian) {
  const std::vector<float> values = Draw(42, 0, 200000);
  double sum = 0;
  double squares = 0;
  double fourths = 0;
  size_t beyond_two = 0;
  for (float value : values) {
    ASSERT_TRUE(std::isfinite(value));
    sum += value;
    squares += double{value} * value;
    fourths += double{value} * value * value * value;
    if (std::abs(value) > 2) ++beyond_two;
  }
  const auto n = static_cast<double>(values.size());
  EXPECT_NEAR(sum / n, 0, 0.01);
  EXPECT_NEAR(squares / n, 1, 0.01);
  EXPECT_NEAR(fourths / n, 3, 0.1);
  EXPECT_NEAR(static_cast<double>(beyond_two) / n, 0.0455, 0.003);
}

}  // namespace
}  // namespace millrace::speech
