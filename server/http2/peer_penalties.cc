#include "server/http2/peer_penalties.h"

#include <algorithm>

namespace millrace::server {

void PeerPenalties::Add(const Peer& peer, TimePoint now) {
  MutexLock lock(mu_);
  if (penalties_.size() >= kMostPeers) {
    std::erase_if(penalties_, [&](const auto& one) { return now - one.second.last > kMemory; });
  }
  const auto found = penalties_.find(peer);
  if (found == penalties_.end()) {
    if (penalties_.size() < kMostPeers) penalties_[peer] = {.delay = kFirst, .last = now};
    return;
  }
  Penalty& penalty = found->second;
  penalty.delay = now - penalty.last > kMemory ? kFirst : std::min(penalty.delay * 2, kLongest);
  penalty.last = now;
}

void PeerPenalties::AddUnanswered(const Peer& peer, TimePoint now) {
  {
    MutexLock lock(mu_);
    if (unanswered_.size() >= kMostPeers) unanswered_.clear();
    const auto known = unanswered_.try_emplace(peer, kUnansweredPerSecond, kUnansweredAtOnce).first;
    if (known->second.Add(now)) return;
  }
  Add(peer, now);
}

Duration PeerPenalties::Delay(const Peer& peer, TimePoint now) const {
  MutexLock lock(mu_);
  const auto found = penalties_.find(peer);
  if (found == penalties_.end() || now - found->second.last > kMemory) return Duration::zero();
  return found->second.delay;
}

}  // namespace millrace::server
