#pragma once

#include <algorithm>
#include <chrono>

#include "mps_runtime/base/clock.h"

namespace millrace {

// Measures how much the frequency of an event exceeds a rate: each event fills the bucket by its
// amount, and it leaks at the rate. One thread.
class LeakyBucket {
 public:
  // rate: events a second, above 0. size: the events that may come at once.
  LeakyBucket(double rate, double size) : rate_(rate), size_(size) {}

  // Counts an event. Returns false if the bucket overflows. `now` must not decrease.
  bool Add(TimePoint now, double amount = 1) {
    const std::chrono::duration<double> elapsed = now - leaked_;
    leaked_ = now;
    level_ = std::max(level_ - elapsed.count() * rate_, 0.0) + amount;
    return level_ <= size_;
  }

  // Takes back events that were legitimate.
  void Drain(double amount) { level_ = std::max(level_ - amount, 0.0); }

 private:
  double rate_;
  double size_;
  double level_ = 0;
  TimePoint leaked_;
};

}  // namespace millrace
