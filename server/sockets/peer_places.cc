#include "server/sockets/peer_places.h"

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

size_t PeerPlaces::held() const {
  MutexLock lock(mu_);
  return held_;
}

void PeerPlaces::Leave(const Peer& peer) {
  MutexLock lock(mu_);
  const auto found = held_by_peer_.find(peer);
  if (--found->second == 0) held_by_peer_.erase(found);
  --held_;
}

}  // namespace millrace
