#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>

#include "mps_runtime/base/clock.h"

namespace millrace::server {

// Decides for how long the answer to a refused call is held back. A client that calls again as soon
// as it is refused, or on a schedule of its own, would otherwise take the CPU from admitted work,
// because a refusal costs as much as a small answer. A client has a bounded number of calls at once
// on a connection, so one whose answers wait sends no more than its answers allow.
//
// Up to a rate, refusals go out at once; beyond it they are spread out by the generic cell rate
// algorithm (ITU-T I.371). Callers that exceed it at the same time have equal parts of the rate,
// and one that is refused now and then is answered at once, whatever the others do. One thread.
class RefusalPacer {
 public:
  // The longest that an answer is held back.
  static constexpr Duration kLongest = std::chrono::seconds(10);
  // The same while kMostHeld answers are held back.
  static constexpr Duration kLongestOfMany = std::chrono::seconds(1);
  // As many answers may wait for longer than that; each takes some 12 KB.
  static constexpr size_t kMostHeld = 4096;
  // After a quiet time, as many refusals as the rate allows in this time go out at once.
  static constexpr Duration kBurst = std::chrono::milliseconds(500);
  // Answers are released together, which costs less than one by one.
  static constexpr Duration kTick = std::chrono::milliseconds(10);

  // rate: refusals a second that go out at once; 0: all of them.
  explicit RefusalPacer(double rate)
      : interval_(
            rate > 0 ? std::chrono::duration_cast<Duration>(std::chrono::duration<double>(1 / rate))
                     : Duration::zero()) {}

  // Counts a refusal and returns the time to hold back its answer, 0 or more. `caller`: a hash of
  // who is refused; those of one remainder count as one. `held`: the answers that are held back
  // now. `left`: the time until the call's deadline, of which at most half is used, so that the
  // answer still arrives. `now` must not decrease.
  Duration Delay(TimePoint now, Duration left, size_t caller = 0, size_t held = 0) {
    TimePoint& scheduled = scheduled_[caller % scheduled_.size()];
    const auto refused = std::count_if(scheduled_.begin(), scheduled_.end(),
                                       [&](const TimePoint& at) { return at > now; });
    const Duration interval = interval_ * std::max<ptrdiff_t>(refused, 1);
    const Duration longest = held < kMostHeld ? kLongest : kLongestOfMany;
    scheduled = std::clamp(scheduled + interval, now, std::max(scheduled, now + kBurst + longest));
    const Duration delay = std::min({scheduled - now - kBurst, longest, left / 2});
    const Duration past_tick = (now + delay).time_since_epoch() % kTick;
    return std::max(delay - past_tick, Duration::zero());
  }

 private:
  const Duration interval_;
  // When the last refusal of each group of callers was due at its part of the rate.
  std::array<TimePoint, 64> scheduled_;
};

}  // namespace millrace::server
