#include "server/http2/peer_places.h"

namespace millrace::server {

PeerPlaces::Place::~Place() {
  if (places_ != nullptr) places_->Leave(peer_);
}

PeerPlaces::Place PeerPlaces::TryEnter(const Peer& peer) {
  MutexLock lock(mu_);
  int& held = held_[peer];
  if (held >= max_of_peer_) return {};
  ++held;
  return {this, peer};
}

void PeerPlaces::Leave(const Peer& peer) {
  MutexLock lock(mu_);
  const auto held = held_.find(peer);
  if (--held->second == 0) held_.erase(held);
}

}  // namespace millrace::server
