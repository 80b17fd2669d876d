#pragma once

#include <atomic>
#include <cstdint>

#include "mps_runtime/base/clock.h"
#include "mps_runtime/base/mutex.h"

namespace millrace::server {

// Bounds the work that replays add when executors die again and again: a replay takes a token, and
// tokens come back with time and with requests that end well. Thread-safe.
class ReplayBudget {
 public:
  static constexpr double kMost = 256;
  static constexpr double kPerSecond = 2;
  static constexpr double kPerRequest = 0.1;

  explicit ReplayBudget(TimePoint now) : last_(now) {}

  // Returns false if there is no token.
  bool Take(TimePoint now) MILLRACE_EXCLUDES(mu_);
  void OnSuccess() { successes_.fetch_add(1, std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> successes_{0};  // since the last Take
  Mutex mu_;
  double tokens_ MILLRACE_GUARDED_BY(mu_) = kMost;
  TimePoint last_ MILLRACE_GUARDED_BY(mu_);
};

}  // namespace millrace::server
