#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <optional>

namespace millrace::server {

// Tells whether the memory of a process grows without end. A process also takes memory for a while
// and gives it back, and its caches fill up once, so that what counts is the least memory of spans
// of time. Not thread-safe.
class MemoryTrend {
 public:
  // most: the growth that is allowed, in bytes.
  explicit MemoryTrend(uint64_t most) : most_(most) {}

  // Takes the memory of the process now, at equal intervals. Returns true if it has grown by more
  // than is allowed since the first 32 samples, and still does: within the samples that are
  // remembered by an eighth of that, and in each quarter of them.
  bool Add(uint64_t bytes);

 private:
  // So many spans are remembered, or half as many at least. If there are more, two become one, up
  // to the length with which all are the last hour or so, at four samples a second.
  static constexpr size_t kSpans = 16;
  static constexpr size_t kMostSamplesOfSpan = 1024;
  static constexpr uint64_t kNone = std::numeric_limits<uint64_t>::max();

  void EndSpan();
  // Returns the least memory of a quarter of the spans, 0..3.
  uint64_t LeastOfQuarter(size_t quarter) const;

  const uint64_t most_;
  size_t samples_of_span_ = 4;
  std::deque<uint64_t> spans_;     // the least memory of each, the oldest first
  size_t samples_ = 0;             // the span that has begun has so many
  uint64_t least_ = kNone;         // the least memory of that span
  std::optional<uint64_t> first_;  // the memory from which growth counts
};

}  // namespace millrace::server
