#pragma once

#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "server/http2/peer.h"
#include "server/http2/peer_places.h"

namespace millrace {

// An open connection and what has come on it. Owned by the poller while it waits for a request, by
// a request's thread while that is served. Closes the descriptor.
struct Connection {
  using TimePoint = std::chrono::steady_clock::time_point;

  enum class Stage : uint8_t {
    kIdle,    // nothing of a next request has come
    kHead,    // a part of its head has
    kLinger,  // it was refused; what its client still sends is thrown away
  };
  // The fate of a connection once its request is answered.
  enum class Fate : uint8_t {
    kKeep,
    kLinger,
    kClose,
    kHandOver,  // it goes on in another protocol, with hand_over
  };

  Connection(int descriptor, TimePoint now) : descriptor(descriptor), since(now) {}
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() { close(descriptor); }

  const int descriptor;
  std::string received;  // what no request has read yet
  size_t searched = 0;   // so much of it has no end of a head
  Stage stage = Stage::kIdle;
  TimePoint since;  // of the stage
  server::Peer peer;
  server::PeerPlaces::Place place;  // among the connections of its peer
  // Takes the connection when its fate is kHandOver.
  std::function<void(std::unique_ptr<Connection>)> hand_over;
};

}  // namespace millrace
