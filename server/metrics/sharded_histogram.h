#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "prometheus/client_metric.h"
#include "server/metrics/count_shard.h"

namespace millrace::server {

// A histogram as prometheus::Histogram is one, that threads observe into without meeting: a few
// nanoseconds and no lock. Takes 3 KiB. Thread-safe.
class ShardedHistogram {
 public:
  static constexpr size_t kMaxBounds = 30;

  // The upper bounds of the buckets, ascending and at most kMaxBounds; +Inf comes by itself. Throws
  // std::invalid_argument.
  explicit ShardedHistogram(const std::vector<double>& bounds);
  ShardedHistogram(const ShardedHistogram&) = delete;
  ShardedHistogram& operator=(const ShardedHistogram&) = delete;

  // A value at a bound belongs to the bucket that ends there.
  void Observe(double value);
  // The sums of all shards. What is observed meanwhile may be missing from them, and the sum may be
  // a moment apart from the buckets; the count is always that of the last bucket, and none is ever
  // below what it was before. Under a microsecond.
  prometheus::ClientMetric Collect() const;

 private:
  struct alignas(kShardAlignment) Shard {
    std::atomic<double> sum{0};
    std::array<std::atomic<uint64_t>, kMaxBounds + 1> counts{};  // of each bucket alone
  };

  size_t bounds_count_;
  std::array<double, kMaxBounds> bounds_;
  std::array<Shard, kCountShards> shards_;
};

}  // namespace millrace::server
