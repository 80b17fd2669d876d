#pragma once

#include <cstddef>

#include "mps_runtime/base/clock.h"

namespace millrace::server {

// How long a model takes for its work (Model::EstimateWork), as its last steps had it. Not
// thread-safe.
class Pace {
 public:
  // A step of so many requests that did so much work together, 0 where none was completed.
  void Report(Duration took, size_t requests, double work);
  // False until some work was done.
  bool known() const { return work_ > 0; }
  // Steps that were reported, up to some hundred.
  double steps() const { return steps_; }

  // For a unit of work; 0 while unknown. Of a worker's time, which requests of one step share.
  double seconds() const { return known() ? seconds_ / work_ : 0; }
  // Of a step, 0 before the first.
  double seconds_per_step() const { return steps_ > 0 ? seconds_ / steps_ : 0; }
  // That a request is in steps for a unit of its own.
  double seconds_in_steps() const { return known() ? seconds_in_steps_ / work_ : 0; }

 private:
  // Sums in which older steps count ever less.
  double seconds_ = 0;
  double seconds_in_steps_ = 0;
  double work_ = 0;
  double steps_ = 0;
};

// By how much requests prove to be more or less work than they were judged before they began. Not
// thread-safe.
class Correction {
 public:
  // One that began: what it was judged, and what it then proved to be.
  void Report(double estimate, double work);
  // What to multiply an estimate by.
  double factor() const { return work_ / estimate_; }

 private:
  // Sums in which older requests count ever less.
  double estimate_ = 1;
  double work_ = 1;
};

// How much of the workers' time a model used lately. Not thread-safe.
class RecentUse {
 public:
  void Add(TimePoint now, Duration took);
  // In workers: 1 is one worker all the time.
  double workers(TimePoint now) const;

 private:
  double seconds_ = 0;  // at last_, older ones counting less
  TimePoint first_{};   // when it began, after a long time without
  TimePoint last_{};
};

}  // namespace millrace::server
