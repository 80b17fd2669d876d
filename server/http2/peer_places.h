#pragma once

#include <map>
#include <utility>

#include "mps_runtime/base/mutex.h"
#include "server/http2/peer.h"

namespace millrace::server {

// Bounds what each peer does at once, so that one of them cannot take all places of a bound that
// counts them together. Holds no more peers than have a place. Thread-safe.
class PeerPlaces {
 public:
  // A place, or none, until it is destroyed. Move-only. The PeerPlaces must outlive it.
  class Place {
   public:
    Place() = default;
    Place(Place&& other) noexcept
        : places_(std::exchange(other.places_, nullptr)), peer_(other.peer_) {}
    Place& operator=(Place&& other) noexcept {
      std::swap(places_, other.places_);
      std::swap(peer_, other.peer_);
      return *this;
    }
    ~Place();

    bool held() const { return places_ != nullptr; }

   private:
    friend class PeerPlaces;
    Place(PeerPlaces* places, const Peer& peer) : places_(places), peer_(peer) {}

    PeerPlaces* places_ = nullptr;
    Peer peer_;
  };

  // max_of_peer >= 1.
  explicit PeerPlaces(int max_of_peer) : max_of_peer_(max_of_peer) {}
  PeerPlaces(const PeerPlaces&) = delete;
  PeerPlaces& operator=(const PeerPlaces&) = delete;

  // Returns no place if the peer has all of its places already.
  Place TryEnter(const Peer& peer) MILLRACE_EXCLUDES(mu_);

 private:
  void Leave(const Peer& peer) MILLRACE_EXCLUDES(mu_);

  const int max_of_peer_;
  Mutex mu_;
  std::map<Peer, int> held_ MILLRACE_GUARDED_BY(mu_);
};

}  // namespace millrace::server
