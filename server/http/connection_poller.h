#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "server/http/connection.h"
#include "server/sockets/poll_group.h"
#include "server/sockets/poll_loop.h"

namespace millrace {

// Accepts connections and waits on one thread for what their clients send, so that neither an idle
// connection nor a half-sent request costs more than a descriptor and the bytes that came. A
// connection whose next request has a whole head is handed on. When as many are open as may be, the
// one that has been silent for longest goes: a new client always gets in. Where one address has as
// many as it may, the one of its own goes.
//
// Start and Stop belong to one thread.
class ConnectionPoller {
 public:
  struct Options {
    ListenAddress address;
    int inherited = -1;  // see Acceptor::Options
    size_t max_connections = 0;
    int max_connections_of_peer = 0;  // >= 1
    size_t max_head_bytes = 0;
    std::chrono::milliseconds head_timeout{};        // from the first byte of a head to its last
    std::chrono::milliseconds keep_alive_timeout{};  // for a connection without a request
    std::chrono::milliseconds accept_retry{};        // when accepting fails
  };
  // Takes a connection whose next request's head has come. False: it stays, and is refused.
  using Dispatch = std::function<bool(std::unique_ptr<Connection>&)>;
  // Returns the answer that refuses a request with a status before it is parsed; what was received
  // of it may be malformed.
  using Refusal =
      std::function<std::string(std::string_view received, const Peer& peer, int status)>;

  // dispatch and refusal run on the poller's thread; what they throw costs the connection. clock:
  // must outlive this.
  ConnectionPoller(Options options, Dispatch dispatch, Refusal refusal,
                   Clock& clock = Clock::Real());

  // Listens when it returns OK, and answers from Start on. Unavailable says why it cannot.
  absl::Status Listen() { return group_.acceptor().Start(); }
  // See Acceptor::is_loopback.
  bool is_loopback() const { return group_.acceptor().is_loopback(); }
  absl::Status Start() { return group_.Start(); }
  int port() const { return group_.acceptor().port(); }  // the real one, after Start
  // Accepts no more and closes the connections that wait. Those that are handed on come back all
  // the same. Idempotent.
  void Stop() { group_.Stop(); }

  // Gives back a connection that was handed on, to wait for its next request or to linger. Any
  // thread; never fails.
  void Return(std::unique_ptr<Connection> connection, Connection::Fate fate) noexcept;

 private:
  class Waiting;

  // Sends the refusal, as far as the socket takes it at once.
  void SendRefusal(int descriptor, std::string_view received, const Peer& peer, int status) const;

  const Options options_;
  const Dispatch dispatch_;
  const Refusal refusal_;
  PollLoop loop_;
  PollGroup group_;  // last
};

}  // namespace millrace
