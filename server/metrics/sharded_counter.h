#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

#include "prometheus/client_metric.h"
#include "server/metrics/count_shard.h"

namespace millrace::server {

// A counter as prometheus::Counter is one, that threads add to without meeting: a few nanoseconds
// and no lock. Made by a ShardedCounters, which must outlive it. Thread-safe.
class ShardedCounter {
 public:
  // Nothing below 0 is added.
  void Increment(double by = 1);
  // The sum of all shards; what is added meanwhile may be missing from it. It never falls.
  double Value() const;
  prometheus::ClientMetric Collect() const;

 private:
  friend class ShardedCounters;
  struct alignas(kShardAlignment) Line {
    std::array<std::atomic<double>, kShardAlignment / sizeof(double)> numbers{};
  };

  ShardedCounter(Line* first, size_t lines_of_a_shard, size_t number)
      : first_(first), lines_of_a_shard_(lines_of_a_shard), number_(number) {}

  std::atomic<double>& In(size_t shard) const {
    return first_[shard * lines_of_a_shard_].numbers[number_];
  }

  Line* const first_;  // its line in the first shard
  const size_t lines_of_a_shard_;
  const size_t number_;  // its place in its lines
};

// So many counters whose numbers lie together in each shard, since a shard of its own for each
// would take kShardAlignment bytes: here it is 8 bytes a counter and shard.
class ShardedCounters {
 public:
  explicit ShardedCounters(size_t size);
  ShardedCounters(const ShardedCounters&) = delete;
  ShardedCounters& operator=(const ShardedCounters&) = delete;

  ShardedCounter& operator[](size_t i) { return counters_[i]; }

 private:
  const std::unique_ptr<ShardedCounter::Line[]> lines_;
  std::vector<ShardedCounter> counters_;
};

}  // namespace millrace::server
