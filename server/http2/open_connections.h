#pragma once

#include <chrono>
#include <cstddef>
#include <vector>

#include "mps_runtime/base/clock.h"
#include "server/http2/peer.h"

namespace millrace::server {

class WatchedConnection;

struct ConnectionLimits {
  int connections = 1024;
  int connections_per_peer = 768;
  // The time from the hand-over to gRPC until the client has acknowledged the server's SETTINGS.
  Duration handshake_timeout = std::chrono::seconds(10);
};

// An accepted connection.
struct OpenConnection {
  int fd = -1;  // the listener's: the socket itself while it waits, then a duplicate
  Peer peer;
  TimePoint accepted;
  TimePoint due;                         // when it is handed to gRPC
  bool waits = true;                     // it has not been handed to gRPC
  WatchedConnection* watched = nullptr;  // null while it waits, or without hooks
  bool began = false;                    // its client has begun a call, as far as is known
};

// The decision on a new connection, and the connection that has to make room for it.
struct Place {
  enum class Answer { kFree, kMakeRoom, kTooMany, kTooManyOfPeer };
  Answer answer = Answer::kFree;
  size_t closed = 0;  // for kMakeRoom: the index of the connection to close
};

// Decides on a new connection. If all places are taken, the oldest connection that has begun no
// call makes room once it has had a while to begin one, so that clients that only hold connections
// lock nobody out.
Place FindPlace(const std::vector<OpenConnection>& open, const Peer& newcomer,
                const ConnectionLimits& limits, TimePoint now);

}  // namespace millrace::server
