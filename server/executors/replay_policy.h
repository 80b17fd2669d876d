#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <unordered_map>

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

// Requests that have ended executors twice, by a hash of what they ask for. They are refused for a
// time, so that their copies end no further ones. The one that was convicted first makes room for
// the next. Thread-safe.
class ConvictedRequests {
 public:
  static constexpr size_t kMost = 1024;
  static constexpr std::chrono::hours kTime{1};

  void Convict(size_t fingerprint, std::string crash, TimePoint now) MILLRACE_EXCLUDES(mu_);
  // Returns false without a lock if there is none at all.
  bool any() const { return count_.load(std::memory_order_relaxed) > 0; }
  // Returns the crash for which a request is refused.
  std::optional<std::string> Find(size_t fingerprint, TimePoint now) MILLRACE_EXCLUDES(mu_);

 private:
  struct Entry {
    size_t fingerprint;
    std::string crash;
    TimePoint until;
  };

  void DropOld(TimePoint now) MILLRACE_REQUIRES(mu_);

  std::atomic<size_t> count_{0};
  Mutex mu_;
  std::list<Entry> entries_ MILLRACE_GUARDED_BY(mu_);  // in the order of their times
  std::unordered_map<size_t, std::list<Entry>::iterator> places_ MILLRACE_GUARDED_BY(mu_);
};

}  // namespace millrace::server
