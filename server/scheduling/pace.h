#pragma once

#include <cstddef>

#include "mps_runtime/base/clock.h"

namespace millrace::server {

// The time that a model takes for its work (Model::EstimateWork), learnt from its last steps. Not
// thread-safe.
class Pace {
 public:
  // Records a step of `requests` requests that completed `work` together, or 0 if it completed
  // none.
  void Report(Duration took, size_t requests, double work);
  // Returns false until some work was done.
  bool known() const { return work_ > 0; }
  // Returns the number of recorded steps, up to some hundred.
  double steps() const { return steps_; }

  // Returns the seconds for a unit of work, 0 while unknown. This is a worker's time, which the
  // requests of one step share.
  double seconds() const { return known() ? seconds_ / work_ : 0; }
  // Returns the seconds of a step; 0 before the first.
  double seconds_per_step() const { return steps_ > 0 ? seconds_ / steps_ : 0; }
  // Returns the work that a request has done in a step; 0 before the first.
  double work_per_step() const { return requests_ > 0 ? work_ / requests_ : 0; }
  // Returns the seconds that a request spends in steps for a unit of its own work.
  double seconds_in_steps() const { return known() ? seconds_in_steps_ / work_ : 0; }

 private:
  // Sums in which older steps count less and less.
  double seconds_ = 0;
  double seconds_in_steps_ = 0;
  double work_ = 0;
  double steps_ = 0;
  double requests_ = 0;
};

// The factor by which requests prove to be more or less work than estimated before they began. Not
// thread-safe.
class Correction {
 public:
  // Records a request that began: its estimate, and its actual work.
  void Report(double estimate, double work);
  // Returns the factor to multiply an estimate by.
  double factor() const { return work_ / estimate_; }

 private:
  // Sums in which older requests count less and less.
  double estimate_ = 1;
  double work_ = 1;
};

// The workers' time that a model used lately. Not thread-safe.
class RecentUse {
 public:
  void Add(TimePoint now, Duration took);
  // Returns the use in workers: 1 is one worker all the time.
  double workers(TimePoint now) const;

 private:
  double seconds_ = 0;  // as of last_; older use counts less
  TimePoint first_{};   // when the use began, after a long pause
  TimePoint last_{};
};

}  // namespace millrace::server
