#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "mps_runtime/base/clock.h"
#include "server/scheduling/job.h"

namespace millrace::server {

// Keeps the jobs of a queue from the workers while their model is not in memory.
struct Hold {
  // The job for which a model is wanted: it may leave, or comes again later.
  enum class Job : uint8_t { kWaits, kWasRefused };
  // Asks for the model: called on any thread, without a lock, after each job that entered the queue
  // or was refused.
  std::function<void(Job)> wanted;
  // The time that loading the model is expected to take; zero if it is not known.
  Duration load_time{};
};

// Knows whether a queue is held, and since when somebody has wanted its model. Not thread-safe.
class ModelHold {
 public:
  void Set(Hold hold) { hold_ = std::move(hold); }
  void Release();
  bool held() const { return hold_.has_value(); }

  // The functions below need a hold.

  // Counts the time of loading from now on if it is not counted yet. Returns Hold::wanted.
  std::function<void(Hold::Job)> Want(TimePoint now);
  // Declares that the model that was wanted will not come.
  void GiveUp() { wanted_at_.reset(); }
  // Returns OK, or RESOURCE_EXHAUSTED with a retry hint for a job that has no time for the load.
  absl::Status Admit(const Job& job, TimePoint now) const;
  // Returns the seconds that loading the model still takes; 0 while nobody wants it.
  double ExpectedWait(TimePoint now) const;

 private:
  Duration TimeLeft(TimePoint now) const;

  std::optional<Hold> hold_;
  std::optional<TimePoint> wanted_at_;  // when the first job asked for the model
};

}  // namespace millrace::server
