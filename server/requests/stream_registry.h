#pragma once

#include <unordered_set>

#include "mps_runtime/base/clock.h"
#include "mps_runtime/base/mutex.h"

namespace millrace::server {

// A streaming reply as the registry sees it.
class StallingStream {
 public:
  virtual ~StallingStream() = default;
  // When the client's last step was, while something waits for it; TimePoint::max() when nothing
  // does.
  virtual TimePoint waiting_since() const = 0;
  // Ends the call. Must not come back to the registry on this thread.
  virtual void Abort() = 0;
};

// All open streaming replies, so that a client that stops reading loses its call instead of holding
// memory. Thread-safe.
class StreamRegistry {
 public:
  // stall_timeout > 0: how long a client may take nothing of what waits for it.
  explicit StreamRegistry(Duration stall_timeout) : stall_timeout_(stall_timeout) {}

  void Add(StallingStream& stream) MILLRACE_EXCLUDES(mu_);
  // Afterwards the registry does not touch the stream.
  void Remove(StallingStream& stream) MILLRACE_EXCLUDES(mu_);
  // Aborts the streams that have stalled; called every second or so. Returns how many.
  int AbortStalled(TimePoint now) MILLRACE_EXCLUDES(mu_);

 private:
  const Duration stall_timeout_;
  Mutex mu_;
  std::unordered_set<StallingStream*> streams_ MILLRACE_GUARDED_BY(mu_);
};

}  // namespace millrace::server
