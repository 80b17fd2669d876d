#include "server/metrics/sharded_histogram.h"

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <cmath>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "prometheus/histogram.h"
#include "prometheus/text_serializer.h"

namespace millrace::server {
namespace {

using prometheus::ClientMetric;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

std::vector<uint64_t> Cumulative(const ShardedHistogram& histogram) {
  std::vector<uint64_t> counts;
  for (const ClientMetric::Bucket& bucket : histogram.Collect().histogram.bucket)
    counts.push_back(bucket.cumulative_count);
  return counts;
}

std::string HistogramPage(ClientMetric metric) {
  metric.label = {{"model", "m"}};
  return prometheus::TextSerializer().Serialize(
      {{"seconds", "Help.", prometheus::MetricType::Histogram, {metric}}});
}

TEST(ShardedHistogramTest, StartsAtZero) {
  const ShardedHistogram histogram({1, 2});
  EXPECT_EQ(Cumulative(histogram), (std::vector<uint64_t>{0, 0, 0}));
  EXPECT_EQ(histogram.Collect().histogram.sample_sum, 0);
}

TEST(ShardedHistogramTest, ABucketEndsAtItsBoundAndHoldsIt) {
  ShardedHistogram histogram({1, 2});
  histogram.Observe(1);
  EXPECT_EQ(Cumulative(histogram), (std::vector<uint64_t>{1, 1, 1}));
  histogram.Observe(std::nextafter(1, 2));
  EXPECT_EQ(Cumulative(histogram), (std::vector<uint64_t>{1, 2, 2}));
  histogram.Observe(2);
  EXPECT_EQ(Cumulative(histogram), (std::vector<uint64_t>{1, 3, 3}));
  histogram.Observe(std::nextafter(2, 3));
  EXPECT_EQ(Cumulative(histogram), (std::vector<uint64_t>{1, 3, 4}));
  EXPECT_EQ(histogram.Collect().histogram.sample_count, 4U);
  EXPECT_DOUBLE_EQ(histogram.Collect().histogram.sample_sum, 6);
}

TEST(ShardedHistogramTest, PageIsThatOfTheLibrarysHistogram) {
  const std::vector<double> bounds = {0.00005, 0.25, 1, 60};
  const std::vector<double> some = {0, 0.00005, 0.00006, 0.2, 0.25, 0.75, 1, 59, 60, 61, 1e9, -3};
  for (const std::vector<double>& more : std::vector<std::vector<double>>{{},
                                                                          {kInfinity},
                                                                          {-kInfinity},
                                                                          {kInfinity, -kInfinity},
                                                                          {kNaN},
                                                                          {-kNaN},
                                                                          {kNaN, kInfinity}}) {
    ShardedHistogram ours(bounds);
    prometheus::Histogram theirs(bounds);
    for (const std::vector<double>& values : {some, more}) {
      for (const double value : values) {
        ours.Observe(value);
        theirs.Observe(value);
      }
    }
    EXPECT_EQ(HistogramPage(ours.Collect()), HistogramPage(theirs.Collect()));
  }
}

TEST(ShardedHistogramTest, WithoutBoundsHasOneBucket) {
  ShardedHistogram histogram({});
  histogram.Observe(7);
  EXPECT_EQ(Cumulative(histogram), std::vector<uint64_t>{1});
}

TEST(ShardedHistogramDeathTest, TakesAsManyBoundsAsItSays) {
  std::vector<double> bounds(ShardedHistogram::kMaxBounds);
  for (size_t i = 0; i < bounds.size(); ++i) bounds[i] = static_cast<double>(i);
  ShardedHistogram histogram(bounds);
  histogram.Observe(bounds.back());
  histogram.Observe(bounds.back() + 1);
  EXPECT_EQ(Cumulative(histogram).at(bounds.size() - 1), 1U);
  EXPECT_EQ(Cumulative(histogram).at(bounds.size()), 2U);
  bounds.push_back(1000);
  EXPECT_DEATH(ShardedHistogram{bounds}, "31 buckets, allowed are 30");
  EXPECT_DEATH(ShardedHistogram({2, 1}), "buckets out of order");
}

// More threads than shards, and a reader: what it sees only grows, and in the end nothing is lost.
TEST(ShardedHistogramTest, ManyThreadsLoseNothingAndReadersSeeItGrow) {
  constexpr size_t kThreads = 2 * kCountShards;
  constexpr uint64_t kEach = 20000;
  ShardedHistogram histogram({1, 2});
  std::barrier start(kThreads + 1);
  std::atomic<size_t> running{kThreads};
  std::vector<std::thread> threads;
  for (size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      CountShard();  // before any of them ends, so that all shards are in use
      start.arrive_and_wait();
      for (uint64_t i = 0; i < kEach; ++i) histogram.Observe(static_cast<double>(1 + i % 3));
      running.fetch_sub(1);
    });
  }
  start.arrive_and_wait();
  ClientMetric::Histogram last = histogram.Collect().histogram;
  while (running.load() > 0) {
    const ClientMetric::Histogram now = histogram.Collect().histogram;
    ASSERT_EQ(now.sample_count, now.bucket.back().cumulative_count);
    ASSERT_GE(now.sample_sum, last.sample_sum);
    for (size_t i = 0; i < now.bucket.size(); ++i)
      ASSERT_GE(now.bucket[i].cumulative_count, last.bucket[i].cumulative_count);
    last = now;
  }
  for (std::thread& thread : threads) thread.join();
  const uint64_t third = kEach / 3;  // and of 20,000 two are left: a 1 and a 2
  EXPECT_EQ(Cumulative(histogram),
            (std::vector<uint64_t>{kThreads * (third + 1), kThreads * (2 * third + 2),
                                   kThreads * kEach}));
  EXPECT_EQ(histogram.Collect().histogram.sample_sum,
            static_cast<double>(kThreads * (third * 6 + 3)));
}

// A shard passes from thread to thread with what is in it.
TEST(ShardedHistogramTest, ThreadsThatEndLeaveTheirCounts) {
  ShardedHistogram histogram({1});
  for (int wave = 0; wave < 20; ++wave) {
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 100; ++i) histogram.Observe(1);
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  EXPECT_EQ(histogram.Collect().histogram.sample_count, 8000U);
  EXPECT_EQ(histogram.Collect().histogram.sample_sum, 8000);
}

TEST(ShardedHistogramTest, ABucketKeepsItsLastExemplar) {
  ShardedHistogram histogram({1, 2});
  EXPECT_TRUE(histogram.Exemplars().empty());
  histogram.SetExemplar(0.5, "a");
  histogram.SetExemplar(1, "b");
  histogram.SetExemplar(9, "c");
  const auto exemplars = histogram.Exemplars();
  ASSERT_EQ(exemplars.size(), 3U);
  ASSERT_TRUE(exemplars[0]);
  EXPECT_EQ(exemplars[0]->trace_id, "b");
  EXPECT_EQ(exemplars[0]->value, 1);
  EXPECT_GT(exemplars[0]->unix_seconds, 1.7e9);
  EXPECT_FALSE(exemplars[1]);
  EXPECT_EQ(exemplars[2]->trace_id, "c");
}

}  // namespace
}  // namespace millrace::server
