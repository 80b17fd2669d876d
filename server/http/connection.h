#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "mps_runtime/base/file.h"
#include "server/sockets/peer.h"
#include "server/sockets/peer_places.h"

namespace millrace {

// An open connection and what has come on it. Owned by the poller while it waits for a request, by
// a request's thread while that is served.
struct Connection {
  // The fate of a connection once its request is answered.
  enum class Fate : uint8_t {
    kKeep,
    kLinger,
    kClose,
    kHandOver,  // it goes on in another protocol, with hand_over
  };

  explicit Connection(FileDescriptor socket, const Peer& peer = Peer(),
                      PeerPlaces::Place place = PeerPlaces::Place())
      : socket(std::move(socket)), peer(peer), place(std::move(place)) {}

  FileDescriptor socket;
  std::string received;  // bytes that no request has read yet
  const Peer peer;
  PeerPlaces::Place place;  // among the connections of its peer
  // Takes the connection when its fate is kHandOver.
  std::function<void(std::unique_ptr<Connection>)> hand_over;
};

}  // namespace millrace
