#pragma once

#include <chrono>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "server/sockets/listening_socket.h"

namespace millrace {

// Accepts the connections of one address, for a thread that polls. Goes on after failures: it
// listens again, and waits when the system is short of descriptors. One thread, but for port().
class Acceptor {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  struct Options {
    std::string protocol;  // for the log, such as "HTTP"
    std::string host;
    int port = 0;                       // 0: a free one
    int inherited = -1;                 // a socket that listens already, or -1; the caller's
    std::chrono::milliseconds retry{};  // when accepting fails
  };

  explicit Acceptor(Options options);

  // Listens when it returns OK. Unavailable says why it cannot.
  absl::Status Start();
  int port() const { return port_; }  // the real one, after Start

  // Listens again after a failure, once it is time. Call it before each poll.
  void Resume();
  // To poll for input; -1 while nothing is accepted, which is until retry_at().
  int descriptor() const;
  TimePoint retry_at() const { return accept_after_; }
  // Accepts connections that wait. `take` owns the descriptor it is given. `make_room` closes a
  // connection when the system is short of descriptors, and returns false if there is none to
  // close.
  void Accept(absl::FunctionRef<void(int descriptor)> take, absl::FunctionRef<bool()> make_room);
  // Connections are refused from here on.
  void Close() { listening_.Close(); }

 private:
  absl::StatusOr<ListeningSocket> Listen(int port) const;

  const Options options_;
  int port_ = 0;
  ListeningSocket listening_;
  TimePoint accept_after_{};           // not before, since it failed
  bool short_of_descriptors_ = false;  // since the last accepted; one log line each time
};

}  // namespace millrace
