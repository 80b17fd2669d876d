#pragma once

#include <algorithm>
#include <chrono>

#include "mps_runtime/base/clock.h"

namespace millrace::server {

// Decides for how long the answer to a refused call is held back. A client that calls again as soon
// as it is refused would otherwise take the CPU from admitted work, because a refusal costs as much
// as a small answer. Up to a rate, refusals go out at once; beyond it they are spread out by the
// generic cell rate algorithm (ITU-T I.371), which slows a loop of such calls down to that rate.
// One thread.
class RefusalPacer {
 public:
  // The longest that an answer is held back.
  static constexpr Duration kLongest = std::chrono::seconds(1);
  // After a quiet time, as many refusals as the rate allows in this time go out at once.
  static constexpr Duration kBurst = std::chrono::milliseconds(500);
  // Answers are released together, which costs less than one by one.
  static constexpr Duration kTick = std::chrono::milliseconds(10);

  // rate: refusals a second that go out at once; 0: all of them.
  explicit RefusalPacer(double rate)
      : interval_(
            rate > 0 ? std::chrono::duration_cast<Duration>(std::chrono::duration<double>(1 / rate))
                     : Duration::zero()) {}

  // Counts a refusal and returns the time to hold back its answer, 0 or more. `left`: the time
  // until the call's deadline, of which at most half is used, so that the answer still arrives.
  // `now` must not decrease.
  Duration Delay(TimePoint now, Duration left) {
    scheduled_ = std::clamp(scheduled_ + interval_, now, now + kBurst + kLongest);
    const Duration delay = std::min(scheduled_ - now - kBurst, left / 2);
    const Duration past_tick = (now + delay).time_since_epoch() % kTick;
    return std::max(delay - past_tick, Duration::zero());
  }

 private:
  const Duration interval_;
  TimePoint scheduled_;  // when the last one was due at the rate
};

}  // namespace millrace::server
