#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"

namespace millrace::server {

// Accepts TCP connections for gRPC and bounds how many are open: gRPC itself takes any number. A
// connection over the limit is closed at once, which its client sees as UNAVAILABLE. One thread of
// its own; for the rest it belongs to one thread.
class ConnectionListener {
 public:
  // Binds host:port (port 0: a free one), so that nobody else can; connections are refused until
  // Start. UNAVAILABLE naming the address when that fails.
  static absl::StatusOr<std::unique_ptr<ConnectionListener>> Bind(const std::string& address,
                                                                  int max_connections);
  ~ConnectionListener();  // stops
  ConnectionListener(const ConnectionListener&) = delete;
  ConnectionListener& operator=(const ConnectionListener&) = delete;

  int port() const { return port_; }
  // Starts to accept. The handler takes the descriptor; it runs on the listener's thread.
  absl::Status Start(std::function<void(int listener_fd, int fd)> handler);
  // Accepts no more. Open connections go on. Idempotent.
  void Stop();

 private:
  ConnectionListener(int fd, int port, int max_connections)
      : fd_(fd), port_(port), max_connections_(max_connections) {}

  void Run(const std::function<void(int, int)>& handler);
  // False when the system lets none be accepted for now, for want of descriptors or memory.
  bool Accept(const std::function<void(int, int)>& handler);

  const int fd_;
  const int port_;
  const int max_connections_;
  int stop_pipe_[2] = {-1, -1};
  // Duplicates of the open connections' descriptors: they hang up when either side closes. Only the
  // thread touches them.
  std::vector<int> open_;
  bool refusing_ = false;  // since the last accepted connection; one log line each time
  std::thread thread_;     // last
};

}  // namespace millrace::server
