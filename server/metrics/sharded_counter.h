#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

#include "prometheus/client_metric.h"
#include "server/metrics/count_shard.h"

namespace millrace::server {

// A counter like prometheus::Counter that threads add to without contention: it takes a few
// nanoseconds and no lock. Made by a ShardedCounters, which must outlive it. Thread-safe.
class ShardedCounter {
 public:
  // Negative values are ignored.
  void Increment(double by = 1);
  // Returns the sum of all shards. It may lack what is added meanwhile, and never falls.
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

  Line* const first_;  // its cache line in the first shard
  const size_t lines_of_a_shard_;
  const size_t number_;  // its index in its cache line
};

// A group of counters whose numbers lie together in each shard: 8 bytes for each counter and shard.
// A counter with a shard of its own would take kShardAlignment bytes in each.
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
