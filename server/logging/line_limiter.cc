#include "server/logging/line_limiter.h"

#include <algorithm>
#include <utility>

namespace millrace::logging {

std::optional<uint64_t> LineLimiter::Pass() {
  const TimePoint now = clock_.Now();
  MutexLock lock(mu_);
  const TimePoint paid = std::max(paid_, now) + interval_;
  if (paid - now > burst_ * interval_) {
    ++held_back_;
    return std::nullopt;
  }
  paid_ = paid;
  return std::exchange(held_back_, 0);
}

}  // namespace millrace::logging
