#pragma once

#include <cstddef>
#include <vector>

#include "mps_runtime/base/clock.h"

namespace millrace::server {

// The work that is there, by when it must be done: tells whether all of it can be, served by
// earliest deadline. That is so when for each deadline the work due by then fits into the time left
// (the processor-demand criterion; Baruah, Rosier and Howell 1990).
//
// A picture of one moment, made anew now and then: Begin, Add for each request, Finish. Not
// thread-safe. Making it costs a sort, asking a binary search.
class DeadlineLoad {
 public:
  // Work must be done so long before its deadline: what cannot be interrupted is in its way. So
  // many requests are served at once.
  void Begin(TimePoint now, double before, size_t at_once);
  // Work due then, of so many seconds for all workers together, and so many for its request, which
  // cannot be served by all of them. What cannot be done by its own deadline counts only as far as
  // it can; what was due before does not count.
  void Add(TimePoint deadline, double seconds, double alone);
  void Finish();

  // Seconds of work that are due by then.
  double DueBy(TimePoint deadline) const;
  // What is added to the work that is due by `from` must take no longer, or work that is due then
  // or later is late. Infinity when there is none.
  double Room(TimePoint from) const;
  // By how much, at worst, the work due by some deadline exceeds the time until then, if it takes
  // `stretch` times as long; `deadline` says which. Negative when it fits.
  double Excess(double stretch, TimePoint* deadline = nullptr) const;
  // The first of all deadlines; max when there is none.
  TimePoint earliest() const {
    return entries_.empty() ? TimePoint::max() : entries_.front().deadline;
  }

 private:
  struct Entry {
    TimePoint deadline;
    double due = 0;    // seconds of work, its own and what is due before
    double alone = 0;  // of its own
    double end = 0;    // when it is done
    double room = 0;   // the least of what is left of the time, then or later
  };

  double TimeUntil(TimePoint deadline) const;

  TimePoint now_{};
  double before_ = 0;
  size_t at_once_ = 1;
  std::vector<Entry> entries_;  // by deadline
};

}  // namespace millrace::server
