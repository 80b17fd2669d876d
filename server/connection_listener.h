#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "mps_runtime/base/clock.h"
#include "server/http2/open_connections.h"
#include "server/logging/logging.h"

namespace millrace::server {

// Accepts TCP connections for gRPC and bounds how many are open, of all and of each peer: gRPC
// itself takes any number. A connection over the limit is closed at once, which its client sees as
// UNAVAILABLE; one that never began a call makes room for it. Each is watched by the process's
// ConnectionGuard, and waits a while where one of its peer was closed for abuse. One thread of its
// own; for the rest it belongs to one thread.
class ConnectionListener {
 public:
  using Handler = std::function<void(int listener_fd, int fd)>;
  // Binds host:port (port 0: a free one), so that nobody else can; connections are refused until
  // Start. UNAVAILABLE naming the address when that fails.
  static absl::StatusOr<std::unique_ptr<ConnectionListener>> Bind(const std::string& address,
                                                                  const ConnectionLimits& limits);
  ~ConnectionListener();  // stops
  ConnectionListener(const ConnectionListener&) = delete;
  ConnectionListener& operator=(const ConnectionListener&) = delete;

  int port() const { return port_; }
  // Starts to accept. The handler takes the descriptor; it runs on the listener's thread.
  absl::Status Start(Handler handler);
  // Accepts no more and ends the open connections. Idempotent.
  void Stop();

 private:
  ConnectionListener(int fd, int port, const ConnectionLimits& limits)
      : fd_(fd), port_(port), limits_(limits) {}

  void Run(const Handler& handler);
  // False when the system lets none be accepted for now, for want of descriptors or memory.
  bool Accept();
  // Whether there is a place for a connection of this peer; closes another one where that makes it.
  bool MakePlace(const Peer& peer, TimePoint now);
  // Gives gRPC those whose turn it is. Milliseconds until the next one's, -1 when none waits.
  int HandOver(const Handler& handler, TimePoint now);
  // False: it is closed.
  bool HandOver(const Handler& handler, OpenConnection& connection);
  void LogOnce(const char* message, logging::Fields fields);

  const int fd_;
  const int port_;
  const ConnectionLimits limits_;
  int stop_pipe_[2] = {-1, -1};
  // Their descriptors hang up when either side closes. Only the thread touches them.
  std::vector<OpenConnection> open_;
  bool refusing_ = false;  // since the last accepted connection; one log line each time
  std::thread thread_;     // last
};

}  // namespace millrace::server
