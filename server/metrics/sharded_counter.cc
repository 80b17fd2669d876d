#include "server/metrics/sharded_counter.h"

namespace millrace::server {

void ShardedCounter::Increment(double by) {
  if (by < 0) return;
  const size_t shard = CountShard();
  AddInShard(shard, lines_[shard].numbers[number_], by);
}

double ShardedCounter::Value() const {
  double sum = 0;
  // The shards are always added in this order, so that rounding cannot make the total fall.
  for (const Line& line : lines_) sum += line.numbers[number_].load(std::memory_order_relaxed);
  return sum;
}

ShardedCounter& ShardedCounters::Add() {
  const size_t number = counters_.size() % ShardedCounter::Line::kNumbers;
  if (number == 0) lines_.emplace_back();
  return counters_.emplace_back(ShardedCounter(lines_.back(), number));
}

}  // namespace millrace::server
