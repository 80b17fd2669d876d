#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace millrace::loadgen {

// Durations in a fixed number of buckets, each 1/64 of its value wide, or 1 us: percentiles err by
// no more than that whatever the number of samples, and memory is bounded (16 KiB). From 0 to 2^36
// us (19 hours); longer ones count in the last bucket. Thread-safe: Add is two relaxed increments
// and rarely a compare-exchange. Readers come after the last Add.
class Histogram {
 public:
  void Add(std::chrono::nanoseconds value);

  uint64_t count() const { return count_.load(std::memory_order_relaxed); }
  // The smallest bucket bound that at least `fraction` (0..1) of the samples do not exceed, in
  // milliseconds; 0 without samples.
  double PercentileMs(double fraction) const;
  double MaxMs() const;

 private:
  static constexpr int kSubBits = 6;
  static constexpr int kExponents = 31;
  static constexpr size_t kBuckets = size_t{kExponents} << kSubBits;

  static size_t BucketOf(uint64_t us);
  static uint64_t UpperBoundUs(size_t bucket);

  std::array<std::atomic<uint64_t>, kBuckets> buckets_{};
  std::atomic<uint64_t> count_{0};
  std::atomic<int64_t> max_ns_{0};
};

}  // namespace millrace::loadgen
