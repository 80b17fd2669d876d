#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "mps_runtime/base/clock.h"
#include "server/logging/logging.h"
#include "server/sockets/poll_group.h"
#include "server/sockets/poll_loop.h"

namespace millrace::server {

struct ConnectionLimits {
  int connections = 1024;
  int connections_per_peer = 768;
  // The time from the hand-over to gRPC until the client has acknowledged the server's SETTINGS.
  Duration handshake_timeout = std::chrono::seconds(10);
};

// Accepts connections for gRPC and bounds how many are open, of all and of each peer, because
// gRPC itself accepts any number. A connection over the limit is closed at once, which its client
// sees as UNAVAILABLE. To make room for it, the oldest connection is closed that has begun no call
// although it has had a while to, has none open, or only such as health watches, which have said
// nothing for long. Where there is none, the peer with most connections gives up the one that was
// answered longest ago. So clients that only hold connections lock nobody out.
// The process's ConnectionGuard watches each connection, and one of a peer that was closed for
// abuse waits a while. It accepts on a thread of its own; all functions but StopAccepting must be
// called on one thread.
class ConnectionListener {
 public:
  using Handler = std::function<void(int listener_fd, int fd)>;
  // Binds host:port (port 0: a free one) or unix:path, so that no other process can; connections
  // are refused, or wait for a file's, until Start. Returns UNAVAILABLE with the address if that
  // fails.
  static absl::StatusOr<std::unique_ptr<ConnectionListener>> Bind(const std::string& address,
                                                                  const ConnectionLimits& limits,
                                                                  Clock& clock = Clock::Real());
  // Takes a duplicate of a socket that listens already and does not block.
  static absl::StatusOr<std::unique_ptr<ConnectionListener>> Share(int descriptor,
                                                                   const ConnectionLimits& limits,
                                                                   Clock& clock = Clock::Real());
  ~ConnectionListener() { Stop(); }
  ConnectionListener(const ConnectionListener&) = delete;
  ConnectionListener& operator=(const ConnectionListener&) = delete;

  int port() const { return group_.acceptor().port(); }
  // Starts to accept. The handler takes ownership of the descriptor unless it throws, which costs
  // only that connection; it runs on the listener's thread.
  absl::Status Start(Handler handler);
  // Accepts no more connections; those that are open stay. New ones wait in the queue of the
  // socket, for other processes that listen on it. Any thread.
  void StopAccepting() { group_.acceptor().Stop(); }
  // Stops accepting and ends the open connections. Idempotent.
  void Stop();

 private:
  class Client;

  ConnectionListener(Acceptor::Options accept, std::string setting, const ConnectionLimits& limits,
                     Clock& clock);
  static absl::StatusOr<std::unique_ptr<ConnectionListener>> Make(Acceptor::Options accept,
                                                                  const std::string& setting,
                                                                  const ConnectionLimits& limits,
                                                                  Clock& clock);

  // Passes a connection to gRPC. Returns false if it is to be closed instead.
  bool HandOver(Client& client);
  void Refuse(const Peer& peer, PeerPlaces::Full full);
  void LogOnce(const char* message, logging::Fields fields);

  const std::string setting_;  // names its address in errors
  const ConnectionLimits limits_;
  Handler handler_;
  bool started_ = false;
  // Since the last connection that was served, so that a line is logged once each time. The
  // thread's.
  bool refusing_ = false;
  PollLoop loop_;
  PollGroup group_;  // last
};

}  // namespace millrace::server
