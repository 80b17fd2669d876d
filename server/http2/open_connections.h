#pragma once

#include <cstddef>
#include <vector>

#include "mps_runtime/base/clock.h"
#include "server/http2/peer.h"

namespace millrace::server {

class WatchedConnection;

struct ConnectionLimits {
  int connections = 1024;
  int connections_per_peer = 768;
};

// A connection that was accepted.
struct OpenConnection {
  int fd = -1;  // the listener's own: the connection's while it waits, then a duplicate of it
  Peer peer;
  TimePoint accepted;
  TimePoint due;                               // when it is gRPC's turn
  bool waits = true;                           // for that
  const WatchedConnection* watched = nullptr;  // null before, and where nobody can tell
  bool began = false;                          // a call, as far as anybody can tell
};

// What becomes of a new connection, and who has to make room for it.
struct Place {
  enum class Answer { kFree, kMakeRoom, kTooMany, kTooManyOfPeer };
  Answer answer = Answer::kFree;
  size_t closed = 0;  // for kMakeRoom: the index of the connection to close
};

// Where all places are taken, the oldest connection that never began a call makes room, once it has
// had a while to: those who only hold places keep nobody out.
Place FindPlace(const std::vector<OpenConnection>& open, const Peer& newcomer,
                const ConnectionLimits& limits, TimePoint now);

}  // namespace millrace::server
