#pragma once

#include <algorithm>
#include <chrono>

#include "mps_runtime/base/clock.h"

namespace millrace::server {

// How often something happens beyond a rate: it fills by one each time and leaks at the rate. For
// one thread.
class LeakyBucket {
 public:
  // rate: a second, above 0. size: how many may come at once.
  LeakyBucket(double rate, double size) : rate_(rate), size_(size) {}

  // False when it overflows. Times may not go back.
  bool Add(TimePoint now) {
    const std::chrono::duration<double> elapsed = now - leaked_;
    leaked_ = now;
    level_ = std::max(level_ - elapsed.count() * rate_, 0.0) + 1;
    return level_ <= size_;
  }

  // Takes out what came for a good reason.
  void Drain(double amount) { level_ = std::max(level_ - amount, 0.0); }

 private:
  double rate_;
  double size_;
  double level_ = 0;
  TimePoint leaked_;
};

}  // namespace millrace::server
