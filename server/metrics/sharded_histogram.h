#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "mps_runtime/base/mutex.h"
#include "prometheus/client_metric.h"
#include "server/metrics/count_shard.h"
#include "server/metrics/exemplar.h"

namespace millrace::server {

// A histogram like prometheus::Histogram that threads observe into without contention: it takes a
// few nanoseconds and no lock. Uses 3 KiB. Thread-safe.
class ShardedHistogram {
 public:
  static constexpr size_t kMaxBounds = 30;

  // `bounds` are the upper bounds of the buckets, ascending and at most kMaxBounds; +Inf is added.
  // Anything else fails a check.
  explicit ShardedHistogram(const std::vector<double>& bounds);
  ShardedHistogram(const ShardedHistogram&) = delete;
  ShardedHistogram& operator=(const ShardedHistogram&) = delete;

  // Counts a value, which at a bound belongs to the bucket that ends there.
  void Observe(double value);
  // Keeps an observed value as the example of its bucket, in place of the one before. Takes a lock,
  // and the first one 2 KiB: for sampled requests alone.
  void SetExemplar(double value, std::string_view trace_id) MILLRACE_EXCLUDES(mu_);
  // Returns the example of each bucket; empty if there has been none.
  std::vector<std::optional<Exemplar>> Exemplars() const MILLRACE_EXCLUDES(mu_);
  // Returns true once it has counted a value.
  bool has_values() const;
  // Returns the sums of all shards, in under a microsecond. They may lack what is observed
  // meanwhile, and the sum may differ from the buckets for a moment; the count is always that of
  // the last bucket, and no value is ever below an earlier one.
  prometheus::ClientMetric Collect() const;

 private:
  struct alignas(kShardAlignment) Shard {
    std::atomic<double> sum{0};
    std::array<std::atomic<uint64_t>, kMaxBounds + 1> counts{};  // each bucket's own count
  };

  // Returns the index of the value's bucket. NaN is not above any bound and falls into the first
  // bucket, as in prometheus::Histogram.
  size_t BucketOf(double value) const;

  size_t bounds_count_;
  std::array<double, kMaxBounds> bounds_;
  std::array<Shard, kCountShards> shards_;
  mutable Mutex mu_;
  std::vector<std::optional<Exemplar>> exemplars_ MILLRACE_GUARDED_BY(mu_);
};

}  // namespace millrace::server
