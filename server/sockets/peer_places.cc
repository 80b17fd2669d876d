#include "server/sockets/peer_places.h"

#include <algorithm>

namespace millrace {

PeerPlaces::Place::~Place() {
  if (places_ != nullptr) places_->Leave(peer_);
}

PeerPlaces::Place PeerPlaces::TryEnter(const Peer& peer) {
  MutexLock lock(mu_);
  const auto found = held_by_peer_.find(peer);
  if (found != held_by_peer_.end() && found->second >= max_of_peer_) return Place(Full::kOfPeer);
  if (held_ >= max_) return Place(Full::kAll);
  ++held_by_peer_[peer];
  ++held_;
  return {this, peer};
}

std::optional<Peer> PeerPlaces::Crowding(const Peer& peer) const {
  MutexLock lock(mu_);
  const auto most =
      std::ranges::max_element(held_by_peer_, {}, [](const auto& held) { return held.second; });
  if (most == held_by_peer_.end()) return std::nullopt;
  const auto found = held_by_peer_.find(peer);
  const int held = found == held_by_peer_.end() ? 0 : found->second;
  if (most->second < held + 2) return std::nullopt;
  return most->first;
}

size_t PeerPlaces::held() const {
  MutexLock lock(mu_);
  return held_;
}

size_t PeerPlaces::peers() const {
  MutexLock lock(mu_);
  return held_by_peer_.size();
}

void PeerPlaces::Leave(const Peer& peer) {
  MutexLock lock(mu_);
  const auto found = held_by_peer_.find(peer);
  if (--found->second == 0) held_by_peer_.erase(found);
  --held_;
}

}  // namespace millrace
