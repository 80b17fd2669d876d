#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "mps_runtime/base/clock.h"
#include "mps_runtime/base/mutex.h"
#include "server/tracing/span.h"

namespace millrace::tracing {

// The reason why spans did not reach the collector.
enum class Drop : uint8_t { kQueueFull, kTooMany, kExportFailed, kRejected };
inline constexpr size_t kDrops = 4;

// Counts spans. Thread-safe.
class SpanCounts {
 public:
  void AddExported(uint64_t spans) { exported_.fetch_add(spans, std::memory_order_relaxed); }
  void AddDropped(Drop why, uint64_t spans) {
    dropped_[static_cast<size_t>(why)].fetch_add(spans, std::memory_order_relaxed);
  }
  uint64_t exported() const { return exported_.load(std::memory_order_relaxed); }
  uint64_t dropped(Drop why) const {
    return dropped_[static_cast<size_t>(why)].load(std::memory_order_relaxed);
  }

 private:
  std::atomic<uint64_t> exported_{0};
  std::array<std::atomic<uint64_t>, kDrops> dropped_{};
};

// The finished traces that wait to be exported, at most so many spans. Thread-safe; only Take
// waits. A trace that finds no room is dropped as a whole, and counted.
class TraceQueue {
 public:
  struct Limits {
    size_t max_spans = 2048;
    size_t batch_spans = 512;  // as many wake the taker
  };

  // The counts must outlive it.
  TraceQueue(Limits limits, SpanCounts& counts) : limits_(limits), counts_(counts) {}
  TraceQueue(const TraceQueue&) = delete;
  TraceQueue& operator=(const TraceQueue&) = delete;

  void Push(TraceRecord record) MILLRACE_EXCLUDES(mu_);

  // Waits until a batch is there, until the time has come, or until it is closed. Returns traces of
  // about a batch; none when the time has come without any.
  std::vector<TraceRecord> Take(TimePoint until) MILLRACE_EXCLUDES(mu_);
  // Ends the waits of Take from now on. What is in the queue may still be taken.
  void Close() MILLRACE_EXCLUDES(mu_);
  // Waits until the time has come or until it is closed. Returns false once it is closed.
  bool Sleep(TimePoint until) MILLRACE_EXCLUDES(mu_);
  bool closed() const MILLRACE_EXCLUDES(mu_);
  size_t spans() const MILLRACE_EXCLUDES(mu_);

 private:
  const Limits limits_;
  SpanCounts& counts_;
  mutable Mutex mu_;
  CondVar changed_;
  std::deque<TraceRecord> records_ MILLRACE_GUARDED_BY(mu_);
  size_t spans_ MILLRACE_GUARDED_BY(mu_) = 0;
  bool closed_ MILLRACE_GUARDED_BY(mu_) = false;
};

}  // namespace millrace::tracing
