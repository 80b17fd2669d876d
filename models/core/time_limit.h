#pragma once

#include "mps_runtime/base/clock.h"

namespace millrace::models {

// The time that a request has.
struct TimeLimit {
  TimeLimit(TimePoint deadline) : deadline(deadline) {}  // NOLINT(google-explicit-constructor)

  TimePoint deadline;  // when it is due; TimePoint::max(): never
  // Not zero for a request whose output is taken while it is made: such a request may go on behind
  // its deadline for as long as it makes progress at least this often.
  Duration patience{};
  TimePoint last = TimePoint::max();  // the client's own deadline, which is never passed
  // The longest time that requests may have, for messages; zero: that until the deadline.
  Duration most{};
};

}  // namespace millrace::models
