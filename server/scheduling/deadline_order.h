#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "absl/functional/function_ref.h"
#include "mps_runtime/base/clock.h"

namespace millrace::server {

// Work that is due by a deadline.
struct DueWork {
  TimePoint deadline;
  double work = 0;  // in units of the model
};

// The time that work takes from now on.
struct WorkTimes {
  TimePoint now;
  size_t at_once = 1;  // requests that are served at the same time
  // Returns the seconds that all workers together take for this much work.
  absl::FunctionRef<double(double)> seconds_together;
  // Returns the seconds that a single request takes for it.
  absl::FunctionRef<double(double)> seconds_alone;
};

// Returns the indices of the requests to give up so that as many of the others as possible are in
// time, if they are served in this order, which is that of their deadlines. Wherever one would be
// late, the longest so far is given up, which may be itself (Moore 1968). Requests without a
// deadline, which are last, never are. Costs a logarithm for each request.
std::vector<size_t> GiveUpLongest(std::span<const DueWork> order, const WorkTimes& times);

}  // namespace millrace::server
