#include "server/executors/memory_trend.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>

namespace millrace::server {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;

// Returns after how many samples a process with this memory grows too much; 0: it does not within
// `samples`.
int SamplesUntilItGrows(uint64_t most, int samples, const std::function<uint64_t(int)>& memory_at) {
  MemoryTrend trend(most);
  for (int i = 0; i < samples; ++i) {
    if (trend.Add(memory_at(i))) return i + 1;
  }
  return 0;
}

TEST(MemoryTrendTest, SeesMemoryThatGrowsSteadily) {
  const auto leak = [](int i) { return 500 * kMiB + static_cast<uint64_t>(i) * kMiB; };
  EXPECT_EQ(SamplesUntilItGrows(5 * kMiB, 1000, leak), 64);
  const int samples = SamplesUntilItGrows(100 * kMiB, 1000, leak);
  EXPECT_GT(samples, 100);
  EXPECT_LT(samples, 200);
}

TEST(MemoryTrendTest, SeesAGrowthBehindWhatComesAndGoes) {
  const int samples = SamplesUntilItGrows(100 * kMiB, 10000, [](int i) {
    const uint64_t transient = i % 7 == 0 ? 0 : static_cast<uint64_t>(i % 5) * 50 * kMiB;
    return 500 * kMiB + static_cast<uint64_t>(i) * kMiB / 10 + transient;
  });
  EXPECT_GT(samples, 1000);
  EXPECT_LT(samples, 2000);
}

TEST(MemoryTrendTest, SeesAGrowthThatBeginsLate) {
  const int samples = SamplesUntilItGrows(100 * kMiB, 200'000, [](int i) {
    return 500 * kMiB + (i < 100'000 ? 0 : static_cast<uint64_t>(i - 100'000) * kMiB / 10);
  });
  EXPECT_GT(samples, 101'000);
  EXPECT_LT(samples, 115'000);
}

TEST(MemoryTrendTest, AllowsWhatComesAndGoes) {
  EXPECT_EQ(SamplesUntilItGrows(
                101 * kMiB, 100'000,
                [](int i) { return (500 + static_cast<uint64_t>(i * 7919 % 101)) * kMiB; }),
            0);
}

TEST(MemoryTrendTest, AllowsCachesThatFillUp) {
  EXPECT_EQ(SamplesUntilItGrows(100 * kMiB, 100'000,
                                [](int i) {
                                  const int filled = i < 3000 ? i : 3000;
                                  return 500 * kMiB + static_cast<uint64_t>(filled) * kMiB / 31;
                                }),
            0);
  // A jump is no steady growth.
  EXPECT_EQ(SamplesUntilItGrows(100 * kMiB, 100'000,
                                [](int i) { return (i < 50'000 ? 500 : 700) * kMiB; }),
            0);
}

TEST(MemoryTrendTest, AllowsWhatAProcessTakesAtItsBegin) {
  EXPECT_EQ(SamplesUntilItGrows(100 * kMiB, 100'000,
                                [](int i) {
                                  const int begun = i < 20 ? i : 20;
                                  return (500 + 10 * static_cast<uint64_t>(begun)) * kMiB;
                                }),
            0);
}

}  // namespace
}  // namespace millrace::server
