#include "tests/load/loadgen/histogram.h"

#include <gtest/gtest.h>

#include <chrono>

namespace millrace::loadgen {
namespace {

using std::chrono::microseconds;
using std::chrono::nanoseconds;

TEST(HistogramTest, EmptyHasNoPercentiles) {
  const Histogram histogram;
  EXPECT_EQ(histogram.count(), 0U);
  EXPECT_EQ(histogram.PercentileMs(0.99), 0);
}

TEST(HistogramTest, PercentilesErrByAtMostOneBucket) {
  Histogram histogram;
  for (int i = 1; i <= 100'000; ++i) histogram.Add(microseconds(i));
  for (const double fraction : {0.001, 0.01, 0.5, 0.9, 0.99, 0.999}) {
    const double exact = fraction * 100;
    EXPECT_NEAR(histogram.PercentileMs(fraction), exact, exact / 64 + 0.001) << fraction;
  }
  EXPECT_DOUBLE_EQ(histogram.MaxMs(), 100);
  EXPECT_DOUBLE_EQ(histogram.PercentileMs(1), 100);
}

TEST(HistogramTest, KeepsOrderOverItsWholeRange) {
  // One sample at a time, so that the percentile is that sample's bucket.
  double last = 0;
  for (int64_t us = 1; us < int64_t{1} << 36; us = us * 17 / 16 + 1) {
    Histogram histogram;
    histogram.Add(microseconds(us));
    histogram.Add(microseconds(int64_t{1} << 40));
    const double ms = histogram.PercentileMs(0.5);
    EXPECT_GT(ms, last) << us;
    EXPECT_NEAR(ms, static_cast<double>(us) / 1e3, static_cast<double>(us) / 64e3 + 0.001) << us;
    last = ms;
  }
}

TEST(HistogramTest, TakesNegativeAndEnormousValues) {
  Histogram histogram;
  histogram.Add(nanoseconds(-5));
  histogram.Add(nanoseconds::max());
  EXPECT_EQ(histogram.count(), 2U);
  EXPECT_LE(histogram.PercentileMs(0.5), 0.001);
  EXPECT_GT(histogram.PercentileMs(1), 1e6);
}

}  // namespace
}  // namespace millrace::loadgen
