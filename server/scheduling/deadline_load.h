#pragma once

#include <cstddef>
#include <vector>

#include "mps_runtime/base/clock.h"

namespace millrace::server {

// The outstanding work ordered by deadline. It shows whether all work can be done in time when it
// is served by earliest deadline. This is true if for each deadline the work due by then fits into
// the time left (the processor-demand criterion; Baruah, Rosier and Howell 1990).
//
// It describes one moment and is rebuilt now and then: Begin, Add for each request, Build. Not
// thread-safe. Building it costs a sort, a query a binary search.
class DeadlineLoad {
 public:
  // Starts a new description. Work must be done `before` seconds ahead of its deadline, because
  // what cannot be interrupted is in its way. `at_once` requests are served at the same time.
  void Begin(TimePoint now, double before, size_t at_once);
  // Adds work that is due at `deadline`: `seconds` for all workers together, and `alone` for its
  // request by itself, which not all workers can serve. Work that cannot be done by its own
  // deadline counts only as far as it can; work whose deadline has passed does not count.
  void Add(TimePoint deadline, double seconds, double alone);
  // Sorts the work for the queries below.
  void Build();

  // Returns the seconds of work that are due by this deadline.
  double DueBy(TimePoint deadline) const;
  // Returns the longest time that additional work due by `from` may take before work that is due
  // then or later is late; infinity when there is no such work.
  double Room(TimePoint from) const;
  // Returns the largest amount, over all deadlines, by which the work due by a deadline exceeds the
  // time until then if the work takes `stretch` times as long; `deadline` receives that deadline.
  // Negative when everything fits.
  double Excess(double stretch, TimePoint* deadline = nullptr) const;
  // Returns the earliest deadline; max when there is none.
  TimePoint earliest() const {
    return entries_.empty() ? TimePoint::max() : entries_.front().deadline;
  }

 private:
  struct Entry {
    TimePoint deadline;
    double due = 0;    // seconds of work, its own and all that is due before
    double alone = 0;  // seconds of its own work alone
    double end = 0;    // when it is done, in seconds from now
    double room = 0;   // the least time left over, at this deadline or a later one
  };

  double TimeUntil(TimePoint deadline) const;

  TimePoint now_{};
  double before_ = 0;
  size_t at_once_ = 1;
  std::vector<Entry> entries_;  // sorted by deadline
};

}  // namespace millrace::server
