#include "server/metrics/sharded_counter.h"

#include <gtest/gtest.h>

#include <barrier>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "prometheus/counter.h"
#include "prometheus/text_serializer.h"

namespace millrace::server {
namespace {

std::string CounterPage(double value) {
  prometheus::ClientMetric metric;
  metric.counter.value = value;
  return prometheus::TextSerializer().Serialize(
      {{"things_total", "Help.", prometheus::MetricType::Counter, {metric}}});
}

TEST(ShardedCounterTest, AddsOneOrWhatItIsTold) {
  ShardedCounters counters;
  ShardedCounter& counter = counters.Add();
  EXPECT_EQ(counter.Value(), 0);
  counter.Increment();
  counter.Increment(0.25);
  EXPECT_EQ(counter.Value(), 1.25);
}

TEST(ShardedCounterTest, PageIsThatOfTheLibrarysCounter) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  for (const std::vector<double>& values : std::vector<std::vector<double>>{
           {}, {1, 2.5, 1e9}, {3, -2}, {3, -kInfinity}, {kInfinity, 1}, {1, kNaN, 2}}) {
    ShardedCounters counters;
    ShardedCounter& ours = counters.Add();
    prometheus::Counter theirs;
    for (const double value : values) {
      ours.Increment(value);
      theirs.Increment(value);
    }
    EXPECT_EQ(CounterPage(ours.Value()), CounterPage(theirs.Value()));
  }
}

// The counters fill several lines, the last in part; there are more threads than shards.
TEST(ShardedCountersTest, EachKeepsItsOwnCountOfManyThreads) {
  constexpr size_t kCounters = 2 * kShardAlignment / sizeof(double) + 3;
  constexpr size_t kThreads = 2 * kCountShards;
  constexpr size_t kTimes = 300;
  ShardedCounters group;
  std::vector<ShardedCounter*> counters;
  for (size_t i = 0; i < kCounters; ++i) counters.push_back(&group.Add());
  std::barrier start(kThreads);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      CountShard();  // before any of them ends, so that all shards are in use
      start.arrive_and_wait();
      for (size_t time = 0; time < kTimes; ++time)
        for (size_t i = 0; i < kCounters; ++i) counters[i]->Increment(static_cast<double>(i));
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (size_t i = 0; i < kCounters; ++i)
    EXPECT_EQ(counters[i]->Value(), static_cast<double>(kThreads * kTimes * i)) << i;
}

}  // namespace
}  // namespace millrace::server
