#include "tests/load/loadgen/histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace millrace::loadgen {

// Values below 2^kSubBits have a bucket each; above, every power of two is cut into 2^kSubBits
// buckets.
size_t Histogram::BucketOf(uint64_t us) {
  const int width = std::bit_width(us);
  if (width <= kSubBits) return us;
  const int shift = width - kSubBits - 1;
  const size_t bucket =
      (static_cast<size_t>(shift + 1) << kSubBits) + (us >> shift) - (1U << kSubBits);
  return std::min(bucket, kBuckets - 1);
}

uint64_t Histogram::UpperBoundUs(size_t bucket) {
  const size_t exponent = bucket >> kSubBits;
  if (exponent == 0) return bucket + 1;
  const uint64_t base = (bucket & ((1U << kSubBits) - 1)) + (1U << kSubBits);
  return (base + 1) << (exponent - 1);
}

void Histogram::Add(std::chrono::nanoseconds value) {
  const int64_t ns = std::max<int64_t>(value.count(), 0);
  buckets_[BucketOf(static_cast<uint64_t>(ns) / 1000)].fetch_add(1, std::memory_order_relaxed);
  count_.fetch_add(1, std::memory_order_relaxed);
  int64_t seen = max_ns_.load(std::memory_order_relaxed);
  while (ns > seen && !max_ns_.compare_exchange_weak(seen, ns, std::memory_order_relaxed)) {
  }
}

double Histogram::PercentileMs(double fraction) const {
  const uint64_t total = count();
  if (total == 0) return 0;
  const auto rank = std::max<uint64_t>(
      1, static_cast<uint64_t>(std::ceil(fraction * static_cast<double>(total))));
  uint64_t seen = 0;
  for (size_t bucket = 0; bucket < kBuckets; ++bucket) {
    seen += buckets_[bucket].load(std::memory_order_relaxed);
    if (seen >= rank) {
      return std::min(static_cast<double>(UpperBoundUs(bucket)) / 1e3, MaxMs());
    }
  }
  return MaxMs();
}

double Histogram::MaxMs() const {
  return static_cast<double>(max_ns_.load(std::memory_order_relaxed)) / 1e6;
}

}  // namespace millrace::loadgen
