#include "server/executors/replay_policy.h"

#include <algorithm>
#include <utility>

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

void ConvictedRequests::DropOld(TimePoint now) {
  while (!entries_.empty() && (entries_.front().until <= now || entries_.size() > kMost)) {
    places_.erase(entries_.front().fingerprint);
    entries_.pop_front();
  }
  count_.store(entries_.size(), std::memory_order_relaxed);
}

void ConvictedRequests::Convict(size_t fingerprint, std::string crash, TimePoint now) {
  const MutexLock lock(mu_);
  if (const auto found = places_.find(fingerprint); found != places_.end())
    entries_.erase(found->second);
  places_[fingerprint] =
      entries_.insert(entries_.end(), {fingerprint, std::move(crash), now + kTime});
  DropOld(now);
}

std::optional<std::string> ConvictedRequests::Find(size_t fingerprint, TimePoint now) {
  const MutexLock lock(mu_);
  DropOld(now);
  const auto found = places_.find(fingerprint);
  return found == places_.end() ? std::nullopt : std::optional(found->second->crash);
}

}  // namespace millrace::server
