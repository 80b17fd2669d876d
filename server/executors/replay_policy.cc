#include "server/executors/replay_policy.h"

#include <algorithm>
#include <chrono>

namespace millrace::server {

bool ReplayBudget::Take(TimePoint now) {
  const MutexLock lock(mu_);
  const double successes = static_cast<double>(successes_.exchange(0, std::memory_order_relaxed));
  const double seconds = std::chrono::duration<double>(now - last_).count();
  last_ = std::max(last_, now);
  tokens_ =
      std::min(kMost, tokens_ + successes * kPerRequest + std::max(0.0, seconds) * kPerSecond);
  if (tokens_ < 1) return false;
  --tokens_;
  return true;
}

}  // namespace millrace::server
