#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "server/frontends/front_end.h"
#include "server/frontends/wyoming/session.h"
#include "server/http2/peer.h"
#include "server/http2/peer_places.h"
#include "server/logging/line_limiter.h"
#include "server/requests/models_answer.h"
#include "server/requests/services.h"
#include "server/sockets/acceptor.h"
#include "server/sockets/wake_pipe.h"

struct pollfd;

namespace millrace::server {

// Serves speech over the Wyoming protocol, as Home Assistant uses it: an event is a line of JSON,
// data and samples, on a TCP connection without keys and without encryption. One thread reads and
// writes all connections and never waits for one of them. When the limit of open connections is
// reached, or that of their address, the one that has been idle for longest is closed.
//
// Start and Stop must be called on one thread.
class WyomingServer final : public PortServer {
 public:
  struct Options {
    std::string address = "127.0.0.1:10200";  // port 0: a free one
    int inherited = -1;  // a socket that listens already, in place of the address; -1: none
    size_t max_connections = 128;
    // Connections among these of one address or IPv6 /64. >= 1.
    int max_connections_of_peer = 64;
    std::chrono::milliseconds event_timeout = std::chrono::seconds(15);  // first to last byte
    std::chrono::milliseconds idle_timeout = std::chrono::minutes(5);
    std::chrono::milliseconds stall_timeout = std::chrono::seconds(30);  // of a client's reading
    // After such a time without a piece of its text, a stream gives way as an idle connection does.
    std::chrono::milliseconds text_timeout = std::chrono::seconds(20);
    std::chrono::milliseconds accept_retry = std::chrono::seconds(1);  // when accepting fails
    // Returns true once the models are loaded; until then requests get an error.
    std::function<bool()> started = [] { return true; };
  };

  // The services, and what they borrow, must outlive the server.
  WyomingServer(Services& services, Options options);
  ~WyomingServer() override;  // stops

  absl::Status Start() override;
  int port() const override { return acceptor_.port(); }
  // Closes all connections, which stops their syntheses, and joins the thread.
  void Stop() override;

 private:
  struct Connection;

  void Run();
  // Waits until bytes arrive or something is due.
  void Wait();
  void Accept();
  // Reads, handles and writes what is there. Returns false if the connection is over.
  bool Serve(Connection& connection, short events);
  // Counts a client for which there is no room, and sends it the error, if its socket takes that at
  // once.
  void Refuse(int descriptor, const std::string& what);
  void Take(int descriptor);
  // Closes the connection that has been idle for longest, of the peer or, without one, of all.
  // Returns false if none is idle.
  bool MakeRoom(const Peer* peer);

  const Options options_;
  ModelsAnswer<std::string> info_;
  const WyomingContext context_;
  // Shared with the syntheses, which may outlive this.
  const std::shared_ptr<WakePipe> wake_ = std::make_shared<WakePipe>();
  PeerPlaces places_of_peer_;  // outlives the connections
  Acceptor acceptor_;
  std::atomic<bool> stopping_{false};

  // Only the server's thread uses these members.
  std::vector<std::unique_ptr<Connection>> connections_;
  logging::LineLimiter refusals_{/*burst=*/5, std::chrono::seconds(10)};
  std::vector<pollfd> waits_;  // the pipe, the acceptor, the connections in their order
  size_t first_wait_ = 0;      // of a connection

  std::thread thread_;  // last
};

}  // namespace millrace::server
