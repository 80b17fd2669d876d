#pragma once

#include <chrono>
#include <map>

#include "mps_runtime/base/clock.h"
#include "mps_runtime/base/mutex.h"
#include "server/http2/peer.h"

namespace millrace::server {

// How long the next connection of a peer has to wait whose connections were closed for abuse: so
// that one who comes back at once costs little, and others behind the same address still get in.
// Thread-safe.
class PeerPenalties {
 public:
  static constexpr Duration kFirst = std::chrono::milliseconds(250);
  static constexpr Duration kLongest = std::chrono::seconds(2);
  // After so long without abuse all is forgotten.
  static constexpr Duration kMemory = std::chrono::seconds(30);

  // A connection of the peer was closed: the delay doubles.
  void Add(const Peer& peer, TimePoint now) MILLRACE_EXCLUDES(mu_);
  // 0 for a peer that did nothing.
  Duration Delay(const Peer& peer, TimePoint now) const MILLRACE_EXCLUDES(mu_);

 private:
  struct Penalty {
    Duration delay;
    TimePoint last;
  };
  // More peers are let off.
  static constexpr size_t kMostPeers = 4096;

  mutable Mutex mu_;
  std::map<Peer, Penalty> penalties_ MILLRACE_GUARDED_BY(mu_);
};

}  // namespace millrace::server
