#include "server/requests/stream_registry.h"

namespace millrace::server {

void StreamRegistry::Add(StallingStream& stream) {
  MutexLock lock(mu_);
  streams_.insert(&stream);
}

void StreamRegistry::Remove(StallingStream& stream) {
  MutexLock lock(mu_);
  streams_.erase(&stream);
}

int StreamRegistry::AbortStalled(TimePoint now) {
  int aborted = 0;
  MutexLock lock(mu_);
  for (StallingStream* stream : streams_) {
    const TimePoint since = stream->waiting_since();
    if (since == TimePoint::max() || now - since < stall_timeout_) continue;
    // Abort only posts the cancellation to the polling thread, so no stream is removed under this
    // lock.
    stream->Abort();
    ++aborted;
  }
  return aborted;
}

}  // namespace millrace::server
