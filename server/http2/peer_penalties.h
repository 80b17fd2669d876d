#pragma once

#include <chrono>
#include <map>

#include "mps_runtime/base/clock.h"
#include "mps_runtime/base/mutex.h"
#include "server/sockets/leaky_bucket.h"
#include "server/sockets/peer.h"

namespace millrace::server {

// Delays the next connection of a peer whose connections were closed for abuse, or too many of
// which have ended without an answer to any call. A peer that comes back at once then costs little,
// and others behind the same address still get in. Thread-safe.
class PeerPenalties {
 public:
  static constexpr Duration kFirst = std::chrono::milliseconds(250);
  static constexpr Duration kLongest = std::chrono::seconds(2);
  // Penalties are forgotten after this time without abuse.
  static constexpr Duration kMemory = std::chrono::seconds(30);

  // Records that a connection of the peer was closed; doubles its delay.
  void Add(const Peer& peer, TimePoint now) MILLRACE_EXCLUDES(mu_);
  // Records that one has ended without an answer, as those of port checks do. More than these a
  // second and at once count as closed.
  static constexpr int kUnansweredPerSecond = 50;
  static constexpr int kUnansweredAtOnce = 200;
  void AddUnanswered(const Peer& peer, TimePoint now) MILLRACE_EXCLUDES(mu_);
  // Returns the peer's delay; 0 without a penalty.
  Duration Delay(const Peer& peer, TimePoint now) const MILLRACE_EXCLUDES(mu_);

 private:
  struct Penalty {
    Duration delay;
    TimePoint last;
  };
  // Further peers get no penalty.
  static constexpr size_t kMostPeers = 4096;

  mutable Mutex mu_;
  std::map<Peer, Penalty> penalties_ MILLRACE_GUARDED_BY(mu_);
  std::map<Peer, LeakyBucket> unanswered_ MILLRACE_GUARDED_BY(mu_);
};

}  // namespace millrace::server
