#include "server/metrics/sharded_histogram.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <string>

#include "mps_runtime/base/check.h"

namespace millrace::server {

ShardedHistogram::ShardedHistogram(const std::vector<double>& bounds)
    : bounds_count_(bounds.size()), bounds_{} {
  MILLRACE_CHECK(
      bounds.size() <= kMaxBounds,
      std::to_string(bounds.size()) + " buckets, allowed are " + std::to_string(kMaxBounds));
  MILLRACE_CHECK(std::is_sorted(bounds.begin(), bounds.end()), "buckets out of order");
  std::copy(bounds.begin(), bounds.end(), bounds_.begin());
}

size_t ShardedHistogram::BucketOf(double value) const {
  const double* const first = bounds_.data();
  return static_cast<size_t>(std::lower_bound(first, first + bounds_count_, value) - first);
}

void ShardedHistogram::Observe(double value) {
  const size_t bucket = BucketOf(value);
  const size_t index = CountShard();
  Shard& shard = shards_[index];
  AddInShard(index, shard.sum, value);
  AddInShard(index, shard.counts[bucket], uint64_t{1});
}

void ShardedHistogram::SetExemplar(double value, std::string_view trace_id) {
  const size_t bucket = BucketOf(value);
  const double now =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  MutexLock lock(mu_);
  exemplars_.resize(bounds_count_ + 1);
  exemplars_[bucket] = Exemplar{std::string(trace_id), value, now};
}

std::vector<std::optional<Exemplar>> ShardedHistogram::Exemplars() const {
  MutexLock lock(mu_);
  return exemplars_;
}

bool ShardedHistogram::has_values() const {
  return std::ranges::any_of(shards_, [this](const Shard& shard) {
    const auto* const first = shard.counts.data();
    return std::any_of(first, first + bounds_count_ + 1, [](const std::atomic<uint64_t>& count) {
      return count.load(std::memory_order_relaxed) != 0;
    });
  });
}

prometheus::ClientMetric ShardedHistogram::Collect() const {
  std::array<uint64_t, kMaxBounds + 1> counts{};
  prometheus::ClientMetric metric;
  // The shards are always added in this order, so that rounding cannot make the total fall.
  for (const Shard& shard : shards_) {
    metric.histogram.sample_sum += shard.sum.load(std::memory_order_relaxed);
    for (size_t i = 0; i <= bounds_count_; ++i)
      counts[i] += shard.counts[i].load(std::memory_order_relaxed);
  }
  metric.histogram.bucket.reserve(bounds_count_ + 1);
  uint64_t cumulative = 0;
  for (size_t i = 0; i <= bounds_count_; ++i) {
    cumulative += counts[i];
    const double bound = i < bounds_count_ ? bounds_[i] : std::numeric_limits<double>::infinity();
    metric.histogram.bucket.push_back({.cumulative_count = cumulative, .upper_bound = bound});
  }
  metric.histogram.sample_count = cumulative;
  return metric;
}

}  // namespace millrace::server
