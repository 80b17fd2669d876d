#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "mps_runtime/base/mutex.h"
#include "server/http/connection.h"
#include "server/sockets/acceptor.h"
#include "server/sockets/wake_pipe.h"

struct pollfd;

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
    std::chrono::milliseconds keep_alive_timeout{};  // of a connection without a request
    std::chrono::milliseconds accept_retry{};        // when accepting fails
  };
  // Takes a connection whose next request's head has come. False: it stays, and is refused.
  using Dispatch = std::function<bool(std::unique_ptr<Connection>&)>;
  // Returns the answer that refuses a request with a status before it is parsed; what the
  // connection received of it may be malformed.
  using Refusal = std::function<std::string(const Connection& connection, int status)>;

  // dispatch and refusal run on the poller's thread; what they throw costs the connection.
  ConnectionPoller(Options options, Dispatch dispatch, Refusal refusal);
  ConnectionPoller(const ConnectionPoller&) = delete;
  ConnectionPoller& operator=(const ConnectionPoller&) = delete;
  ~ConnectionPoller();  // stops

  // Listens when it returns OK, and answers from Start on. Unavailable says why it cannot.
  absl::Status Listen() { return acceptor_.Start(); }
  // See Acceptor::is_loopback.
  bool is_loopback() const { return acceptor_.is_loopback(); }
  absl::Status Start();
  int port() const { return acceptor_.port(); }  // the real one, after Start
  // Accepts no more and closes the connections that wait. Those that are handed on come back all
  // the same. Idempotent.
  void Stop() MILLRACE_EXCLUDES(mu_);

  // Gives back a connection that was handed on, or its place alone (null). Any thread; never fails.
  void Return(std::unique_ptr<Connection> connection, Connection::Fate fate) noexcept
      MILLRACE_EXCLUDES(mu_);

 private:
  using TimePoint = Connection::TimePoint;
  struct Returned {
    std::unique_ptr<Connection> connection;
    Connection::Fate fate;
  };

  void Run();
  // False once stopping. Connections that came back wait with the others, or are closed.
  bool TakeReturned() MILLRACE_EXCLUDES(mu_);
  // Waits until something comes or is due; what came stands in waits_.
  void Wait();
  TimePoint DeadlineOf(const Connection& connection) const;
  void CloseOverdue();
  void Accept();
  // Waits with the connection for its next request; one that has come already is handed on.
  void Add(std::unique_ptr<Connection> connection, Connection::Fate fate);
  // Takes what came on the connection with that index; it may be gone by the return.
  void Receive(size_t index);
  void ReceiveFrom(std::unique_ptr<Connection>& connection);
  void HandOn(std::unique_ptr<Connection>& connection);
  // Sends the refusal, as far as the socket takes it at once.
  void Send(const Connection& connection, int status);
  void Refuse(Connection& connection, int status);
  // Closes the connection that has been silent for longest, of the peer or, without one, of all.
  // False: none waits.
  bool MakeRoom(const server::Peer* peer);
  void Take(int descriptor);

  const Options options_;
  const Dispatch dispatch_;
  const Refusal refusal_;
  WakePipe wake_;
  server::PeerPlaces places_of_peer_;  // outlives all connections

  Mutex mu_;
  bool stopping_ MILLRACE_GUARDED_BY(mu_) = false;
  std::vector<Returned> returned_ MILLRACE_GUARDED_BY(mu_);  // never grows beyond what is reserved

  // Only the poller's thread uses these.
  Acceptor acceptor_;
  std::vector<std::unique_ptr<Connection>> waiting_;  // the poll is for these, in this order
  size_t handed_on_ = 0;
  std::vector<Returned> taken_;
  std::vector<pollfd> waits_;  // the pipe, the acceptor, the connections in their order
  size_t first_wait_ = 0;      // of a connection

  std::thread thread_;  // last
};

}  // namespace millrace
