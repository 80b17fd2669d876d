#pragma once

#include <vector>

#include "mps_runtime/base/clock.h"

namespace millrace::server {

// Decides how the successor of an executor starts, from how those before it ended. Not thread-safe.
class RestartPolicy {
 public:
  // The time that an executor has to serve for its death to begin a new row of deaths.
  static constexpr Duration kForgiven = std::chrono::seconds(10);
  // After so many deaths in a row the successor runs one step at a time, in case that they came of
  // steps that ran side by side.
  static constexpr int kDeathsBeforeOneStep = 3;
  // After so many the successor computes on the processor, if that is allowed.
  static constexpr int kDeathsBeforeFallback = 6;

  // How an executor ended.
  struct End {
    bool started = false;  // it had all models and served
    bool killed = false;   // by somebody, which says nothing of its successor
    bool worked = false;   // it has completed a step
    Duration served{};
  };

  // backoff: the waits before a successor is started, by the number of deaths in a row before; the
  // last one stays. Not empty.
  explicit RestartPolicy(std::vector<Duration> backoff) : backoff_(std::move(backoff)) {}

  // Returns how long the successor has to wait.
  Duration OnEnd(const End& end);

  bool one_step_at_a_time() const { return deaths_ >= kDeathsBeforeOneStep; }
  bool falls_back() const { return deaths_ >= kDeathsBeforeFallback; }
  // Returns the number of executors in a row that ended before they had completed a step.
  int fruitless() const { return fruitless_; }

 private:
  const std::vector<Duration> backoff_;
  int deaths_ = 0;  // in a row
  int fruitless_ = 0;
};

}  // namespace millrace::server
