#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <deque>

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

 private:
  friend class ShardedCounters;
  // A cache line of counters in one shard.
  struct alignas(kShardAlignment) Line {
    static constexpr size_t kNumbers = kShardAlignment / sizeof(double);
    std::array<std::atomic<double>, kNumbers> numbers{};
  };
  using Lines = std::array<Line, kCountShards>;

  ShardedCounter(Lines& lines, size_t number) : lines_(lines), number_(number) {}

  Lines& lines_;
  const size_t number_;  // its index in its cache lines
};

// A group of counters whose numbers lie together in each shard: 8 bytes for each counter and shard.
// A counter with a shard of its own would take kShardAlignment bytes in each. Making counters is
// not thread-safe.
class ShardedCounters {
 public:
  ShardedCounters() = default;
  ShardedCounters(const ShardedCounters&) = delete;
  ShardedCounters& operator=(const ShardedCounters&) = delete;

  // Returns another counter, which lives as long as this.
  ShardedCounter& Add();

 private:
  // Deques, because their elements must not move.
  std::deque<ShardedCounter::Lines> lines_;
  std::deque<ShardedCounter> counters_;
};

}  // namespace millrace::server
