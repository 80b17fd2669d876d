#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "mps_runtime/base/mutex.h"
#include "server/sockets/peer.h"

namespace millrace {

// Bounds what all peers do at once, and what each of them does, so that one cannot take all places.
// Holds no more peers than have a place. Thread-safe.
class PeerPlaces {
 public:
  // Which bound is reached.
  enum class Full : uint8_t { kNo, kOfPeer, kAll };

  // A place, or none, until it is destroyed. Move-only. The PeerPlaces must outlive it.
  class Place {
   public:
    Place() = default;
    Place(Place&& other) noexcept { *this = std::move(other); }
    Place& operator=(Place&& other) noexcept {
      std::swap(places_, other.places_);
      std::swap(peer_, other.peer_);
      std::swap(full_, other.full_);
      return *this;
    }
    ~Place();

    bool held() const { return places_ != nullptr; }
    // Why none was given.
    Full full() const { return full_; }

   private:
    friend class PeerPlaces;
    Place(PeerPlaces* places, const Peer& peer) : places_(places), peer_(peer) {}
    explicit Place(Full full) : full_(full) {}

    PeerPlaces* places_ = nullptr;
    Peer peer_;
    Full full_ = Full::kNo;
  };

  // max_of_peer, max >= 1.
  explicit PeerPlaces(int max_of_peer, size_t max = std::numeric_limits<size_t>::max())
      : max_of_peer_(max_of_peer), max_(max) {}
  PeerPlaces(const PeerPlaces&) = delete;
  PeerPlaces& operator=(const PeerPlaces&) = delete;

  // Returns no place if the peer, or all of them together, have all that there are.
  Place TryEnter(const Peer& peer) MILLRACE_EXCLUDES(mu_);
  // Returns the peer that has most places, if those are at least two more than `peer` has: one of
  // them is then more than its fair share.
  std::optional<Peer> Crowding(const Peer& peer) const MILLRACE_EXCLUDES(mu_);
  // Returns how many are held.
  size_t held() const MILLRACE_EXCLUDES(mu_);
  // Returns how many peers hold one.
  size_t peers() const MILLRACE_EXCLUDES(mu_);

 private:
  void Leave(const Peer& peer) MILLRACE_EXCLUDES(mu_);

  const int max_of_peer_;
  const size_t max_;
  mutable Mutex mu_;
  size_t held_ MILLRACE_GUARDED_BY(mu_) = 0;
  std::map<Peer, int> held_by_peer_ MILLRACE_GUARDED_BY(mu_);
};

}  // namespace millrace
