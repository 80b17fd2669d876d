#pragma once

#include <algorithm>

#include "mps_runtime/base/clock.h"

namespace millrace::server {

// A token bucket that holds what is allowed in a minute and fills evenly within a minute. It may be
// overdrawn, for what is only known afterwards and for a cost above what it can hold. Not
// thread-safe; `now` must not decrease.
class TokenBucket {
 public:
  // per_minute > 0. It begins full.
  TokenBucket(double per_minute, TimePoint now)
      : capacity_(per_minute), tokens_(per_minute), filled_(now) {}

  // Changes what is allowed, and keeps what is there as far as it fits.
  void SetCapacity(double per_minute, TimePoint now) {
    Fill(now);
    capacity_ = per_minute;
    tokens_ = std::min(tokens_, capacity_);
  }

  double capacity() const { return capacity_; }
  // Returns the tokens that are there; negative if it is overdrawn.
  double Level(TimePoint now) {
    Fill(now);
    return tokens_ + capacity_ * kRounding;
  }
  // A negative number gives tokens back.
  void Take(double tokens, TimePoint now) {
    Fill(now);
    tokens_ = std::min(capacity_, tokens_ - tokens);
  }
  // Returns the time until `tokens` are there, or it is full.
  Duration WaitFor(double tokens, TimePoint now) {
    Fill(now);
    const double missing = std::min(tokens, capacity_) - tokens_;
    if (missing <= capacity_ * kRounding) return Duration::zero();
    // Rounded up, so that the tokens are there after this time.
    return std::chrono::ceil<std::chrono::milliseconds>(
        std::chrono::duration<double>(missing / capacity_ * kSeconds - kRounding));
  }

 private:
  static constexpr double kSeconds = 60;
  static constexpr double kRounding = 1e-9;  // a part of the capacity, and seconds

  void Fill(TimePoint now) {
    if (now == filled_) return;
    const double seconds = std::chrono::duration<double>(now - filled_).count();
    tokens_ = std::min(capacity_, tokens_ + capacity_ * seconds / kSeconds);
    filled_ = now;
  }

  double capacity_;
  double tokens_;
  TimePoint filled_;
};

}  // namespace millrace::server
