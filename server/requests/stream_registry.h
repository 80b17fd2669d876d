#pragma once

#include <unordered_set>

#include "mps_runtime/base/clock.h"
#include "mps_runtime/base/mutex.h"

namespace millrace::server {

// A streaming reply as the registry sees it.
class StallingStream {
 public:
  virtual ~StallingStream() = default;
  // Returns the time of the client's last progress while data waits for it; TimePoint::max() when
  // no data waits.
  virtual TimePoint waiting_since() const = 0;
  // Ends the call. Must not call the registry on this thread.
  virtual void Abort() = 0;
};

// All open streaming replies. A client that stops reading loses its call instead of holding memory.
// Thread-safe.
class StreamRegistry {
 public:
  // stall_timeout > 0: the longest time for which a client may read nothing of the data that waits.
  explicit StreamRegistry(Duration stall_timeout) : stall_timeout_(stall_timeout) {}

  void Add(StallingStream& stream) MILLRACE_EXCLUDES(mu_);
  // The registry does not touch the stream afterwards.
  void Remove(StallingStream& stream) MILLRACE_EXCLUDES(mu_);
  // Aborts the stalled streams and returns their number. Called about once a second.
  int AbortStalled(TimePoint now) MILLRACE_EXCLUDES(mu_);

 private:
  const Duration stall_timeout_;
  Mutex mu_;
  std::unordered_set<StallingStream*> streams_ MILLRACE_GUARDED_BY(mu_);
};

}  // namespace millrace::server
