#pragma once

#include "mps_runtime/base/clock.h"

namespace millrace::server {

// The limit of a wait for another process. Where nobody has looked for half of it, this process did
// not run, and the other one may not have either, as while the machine was suspended or a container
// was paused. Once in a wait, such a time does not count.
class WaitLimit {
 public:
  WaitLimit(const Clock& clock, Duration limit) : clock_(clock), limit_(limit) {}

  // Begins another wait.
  void Begin() {
    begin_ = looked_ = clock_.Now();
    has_excused_ = false;
  }
  // Each of these looks at the time. Took returns what the wait has taken so far.
  bool IsOver() { return Took() >= limit_; }
  Duration Took() {
    const TimePoint now = clock_.Now();
    if (const Duration gap = now - looked_; gap >= limit_ / 2 && !has_excused_) {
      begin_ += gap;
      has_excused_ = true;
    }
    looked_ = now;
    return now - begin_;
  }

 private:
  const Clock& clock_;
  const Duration limit_;
  TimePoint begin_ = clock_.Now();
  TimePoint looked_ = begin_;
  bool has_excused_ = false;
};

}  // namespace millrace::server
