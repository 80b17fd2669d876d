#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "mps_runtime/base/clock.h"
#include "mps_runtime/base/mutex.h"

namespace millrace::server {

// Requests that have ended executors twice, by a hash of what they ask for. They are refused for a
// time, so that their copies end no further ones. The one that was convicted first makes room for
// the next. Thread-safe.
class ConvictedRequests {
 public:
  static constexpr size_t kMost = 1024;
  static constexpr std::chrono::hours kTime{1};

  // A convicted request as operators see it.
  struct View {
    std::string crash;  // the id of the second crash, which its client was told
    std::string model;
    Duration left{};       // the time for which it is still refused
    uint64_t refused = 0;  // copies so far
  };

  void Convict(size_t fingerprint, std::string_view model, std::string_view crash, TimePoint now)
      MILLRACE_EXCLUDES(mu_);
  // Returns false without a lock if there is none at all.
  bool any() const { return count_.load(std::memory_order_relaxed) > 0; }
  // Returns the crash for which a request is refused, and counts the refusal.
  std::optional<std::string> Refuse(size_t fingerprint, TimePoint now) MILLRACE_EXCLUDES(mu_);

  // Returns all of them, the one that was convicted first at the front.
  std::vector<View> List(TimePoint now) MILLRACE_EXCLUDES(mu_);
  // Lets those of a crash in again, or all if `crash` is empty. Returns how many there were.
  size_t Clear(std::string_view crash, TimePoint now) MILLRACE_EXCLUDES(mu_);

 private:
  struct Entry {
    size_t fingerprint;
    std::string model;
    std::string crash;
    TimePoint until;
    uint64_t refused = 0;
  };

  void DropOld(TimePoint now) MILLRACE_REQUIRES(mu_);

  std::atomic<size_t> count_{0};
  Mutex mu_;
  std::list<Entry> entries_ MILLRACE_GUARDED_BY(mu_);  // in the order of their times
  std::unordered_map<size_t, std::list<Entry>::iterator> places_ MILLRACE_GUARDED_BY(mu_);
};

}  // namespace millrace::server
