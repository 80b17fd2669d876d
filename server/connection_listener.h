#pragma once

#include <poll.h>
#include <sys/socket.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "mps_runtime/base/clock.h"
#include "server/http2/open_connections.h"
#include "server/logging/logging.h"
#include "server/sockets/listening_socket.h"
#include "server/sockets/wake_pipe.h"

namespace millrace::server {

// Accepts connections for gRPC and bounds how many are open, of all and of each peer, because
// gRPC itself accepts any number. A connection over the limit is closed at once, which its client
// sees as UNAVAILABLE; one that never began a call is closed to make room for it. The process's
// ConnectionGuard watches each connection, and one of a peer that was closed for abuse waits a
// while. It accepts on a thread of its own; all functions but StopAccepting must be called on
// one thread.
class ConnectionListener {
 public:
  using Handler = std::function<void(int listener_fd, int fd)>;
  // Binds host:port (port 0: a free one) or unix:path, so that no other process can; connections
  // are refused, or wait for a file's, until Start. Returns UNAVAILABLE with the address if that
  // fails.
  static absl::StatusOr<std::unique_ptr<ConnectionListener>> Bind(const std::string& address,
                                                                  const ConnectionLimits& limits);
  // Takes a duplicate of a socket that listens already and does not block.
  static absl::StatusOr<std::unique_ptr<ConnectionListener>> Share(int descriptor,
                                                                   const ConnectionLimits& limits);
  ~ConnectionListener();  // stops accepting
  ConnectionListener(const ConnectionListener&) = delete;
  ConnectionListener& operator=(const ConnectionListener&) = delete;

  int port() const { return sockets_.front().port(); }
  // Starts to accept. The handler takes ownership of the descriptor unless it throws, which costs
  // only that connection; it runs on the listener's thread.
  absl::Status Start(Handler handler);
  // Accepts no more connections; those that are open stay. New ones wait in the queue of the
  // socket, for other processes that listen on it. Any thread.
  void StopAccepting() { accepts_.store(false, std::memory_order_relaxed); }
  // Stops accepting and ends the open connections. Idempotent.
  void Stop();

 private:
  ConnectionListener(std::vector<ListeningSocket> sockets, const ConnectionLimits& limits)
      : sockets_(std::move(sockets)), limits_(limits) {}

  void Run(const Handler& handler);
  // Returns false if the system accepts no connection for now, for want of descriptors or memory.
  bool Accept(const ListeningSocket& socket);
  // Returns false if there is no place for the connection, which stays the caller's then.
  bool Admit(int fd, const sockaddr_storage& address);
  static void Refuse(int fd);
  // Returns whether there is room for a connection of this peer; closes another one where that
  // makes room.
  bool MakePlace(const Peer& peer, TimePoint now);
  // Passes to gRPC the connections whose wait is over. Returns the milliseconds until the next
  // one's is, or -1 if none waits.
  int HandOver(const Handler& handler, TimePoint now);
  // Closes the connections whose clients have not acknowledged the server's SETTINGS in time, and
  // those that make room for others. Returns the milliseconds until the next one's time is over, or
  // -1 if none has one.
  int EndWatched(TimePoint now);
  // Returns false if the connection was closed instead.
  bool HandOver(const Handler& handler, OpenConnection& connection);
  void LogOnce(const char* message, logging::Fields fields);

  const std::vector<ListeningSocket> sockets_;  // at least one
  const ConnectionLimits limits_;
  int stop_pipe_[2] = {-1, -1};
  WakePipe wake_;  // when a connection has to end
  std::atomic<bool> accepts_{true};
  // The descriptors report a hang-up when either side closes. Only the thread uses these members.
  std::vector<OpenConnection> open_;
  std::vector<pollfd> waits_;
  bool refusing_ =
      false;  // since the last accepted connection, so that a line is logged once each time
  std::thread thread_;  // declared last, so that it ends first
};

}  // namespace millrace::server
