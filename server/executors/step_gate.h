#pragma once

#include "mps_runtime/base/mutex.h"

namespace millrace::server {

// Lets the steps of an executor run side by side, except those that must be alone in it, so that
// nothing else can be to blame if it dies. Thread-safe.
class StepGate {
 public:
  // Holds a place for a step. Waits while a step is alone there or, for one that must be, until all
  // others have ended; later ones wait behind it.
  class Place {
   public:
    Place(StepGate& gate, bool alone) : gate_(gate), alone_(gate.Enter(alone)) {}
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    ~Place() { gate_.Leave(alone_); }

   private:
    StepGate& gate_;
    const bool alone_;
  };

  // Sets whether each step that begins from now on is alone there.
  void SetOneAtATime(bool one_at_a_time) MILLRACE_EXCLUDES(mu_) {
    const MutexLock lock(mu_);
    one_at_a_time_ = one_at_a_time;
  }
  bool one_at_a_time() const MILLRACE_EXCLUDES(mu_) {
    const MutexLock lock(mu_);
    return one_at_a_time_;
  }

 private:
  // Returns whether the step is alone there.
  bool Enter(bool alone) MILLRACE_EXCLUDES(mu_) {
    const MutexLock lock(mu_);
    if (!alone && !one_at_a_time_) {
      while (has_alone_ || alone_waiting_ > 0) changed_.Wait(mu_);
      ++steps_;
      return false;
    }
    ++alone_waiting_;
    while (has_alone_ || steps_ > 0) changed_.Wait(mu_);
    --alone_waiting_;
    has_alone_ = true;
    return true;
  }

  void Leave(bool alone) MILLRACE_EXCLUDES(mu_) {
    const MutexLock lock(mu_);
    if (alone) {
      has_alone_ = false;
    } else {
      --steps_;
    }
    if (alone || alone_waiting_ > 0) changed_.NotifyAll();
  }

  mutable Mutex mu_;
  CondVar changed_;
  int steps_ MILLRACE_GUARDED_BY(mu_) = 0;
  int alone_waiting_ MILLRACE_GUARDED_BY(mu_) = 0;
  bool has_alone_ MILLRACE_GUARDED_BY(mu_) = false;
  bool one_at_a_time_ MILLRACE_GUARDED_BY(mu_) = false;
};

}  // namespace millrace::server
