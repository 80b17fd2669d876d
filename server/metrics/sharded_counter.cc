#include "server/metrics/sharded_counter.h"

namespace millrace::server {
namespace {

constexpr size_t kNumbersInLine = kShardAlignment / sizeof(double);

// The cache lines that a shard of this many counters takes.
constexpr size_t Lines(size_t counters) { return (counters + kNumbersInLine - 1) / kNumbersInLine; }

}  // namespace

void ShardedCounter::Increment(double by) {
  if (by < 0) return;
  const size_t shard = CountShard();
  AddInShard(shard, In(shard), by);
}

double ShardedCounter::Value() const {
  double sum = 0;
  // The shards are always added in this order, so that rounding cannot make the total fall.
  for (size_t shard = 0; shard < kCountShards; ++shard)
    sum += In(shard).load(std::memory_order_relaxed);
  return sum;
}

prometheus::ClientMetric ShardedCounter::Collect() const {
  prometheus::ClientMetric metric;
  metric.counter.value = Value();
  return metric;
}

ShardedCounters::ShardedCounters(size_t size)
    : lines_(std::make_unique<ShardedCounter::Line[]>(Lines(size) * kCountShards)) {
  counters_.reserve(size);
  for (size_t i = 0; i < size; ++i) {
    counters_.push_back(
        ShardedCounter(&lines_[i / kNumbersInLine], Lines(size), i % kNumbersInLine));
  }
}

}  // namespace millrace::server
