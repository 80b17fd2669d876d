#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "mps_runtime/base/clock.h"
#include "mps_runtime/base/mutex.h"
#include "server/http/http_server.h"
#include "server/http2/peer_places.h"
#include "server/sockets/wake_pipe.h"
#include "server/websocket/connection.h"
#include "server/websocket/session.h"

struct pollfd;

namespace millrace {

// Serves WebSockets, which begin as requests to an HttpServer. One thread reads and writes all of
// them and never waits for one, so that an idle one costs a descriptor and some 10 KiB.
//
// Start, Drain and Stop must be called on one thread at a time; Upgrade on any.
class WebSocketServer {
 public:
  struct Options {
    size_t max_connections = 1024;
    int max_connections_of_peer = 768;  // from one address, or from one IPv6 /64; >= 1
    WebSocketConnection::Options connection = {};
  };

  // clock: must outlive this.
  explicit WebSocketServer(Options options, Clock& clock = Clock::Real());
  WebSocketServer(const WebSocketServer&) = delete;
  WebSocketServer& operator=(const WebSocketServer&) = delete;
  ~WebSocketServer();  // stops

  // Returns OK once connections are served.
  absl::Status Start();
  // Closes the connections that are idle, now or when they become so, and opens no more.
  void Drain();
  // Closes all connections with 1001, for which clients have a moment, and joins the thread.
  // Idempotent.
  void Stop();

  struct Refusal {
    int http_status = 0;
    std::string message;
  };
  // For a handler of `http`: answers a request that opens a WebSocket, which then goes on in a
  // session. Returns why it does not: the response has headers then, and needs a body.
  std::optional<Refusal> Upgrade(const HttpServer& http, const httplib::Request& request,
                                 httplib::Response& response, const MakeWebSocketSession& make);

  // The connections that are open, and those that were opened so far.
  size_t open() const { return open_; }
  size_t opened_total() const { return opened_total_; }

 private:
  class Place;
  struct Peer;

  void Adopt(std::unique_ptr<Peer> peer, std::unique_ptr<Connection> connection)
      MILLRACE_EXCLUDES(mu_);
  void Run();
  // Moves connections that were opened to peers_. Returns false once stopping, at the end.
  bool TakeNew() MILLRACE_EXCLUDES(mu_);
  void Wait();
  // Reads, handles and writes what is there. Returns false if the connection is over.
  bool Serve(Peer& peer, short events);

  const Options options_;
  Clock& clock_;
  // Shared with the work of sessions, which may outlive this.
  const std::shared_ptr<WakePipe> wake_ = std::make_shared<WakePipe>();
  std::atomic<size_t> open_{0};
  server::PeerPlaces open_of_peer_;
  std::atomic<size_t> opened_total_{0};
  std::atomic<bool> draining_{false};

  Mutex mu_;
  bool stopping_ MILLRACE_GUARDED_BY(mu_) = false;
  bool closed_ MILLRACE_GUARDED_BY(mu_) = true;  // nothing is taken
  std::vector<std::unique_ptr<Peer>> new_ MILLRACE_GUARDED_BY(mu_);

  // Only the server's thread uses these members.
  std::vector<std::unique_ptr<Peer>> peers_;
  std::vector<pollfd> waits_;  // the pipe, the peers in their order
  TimePoint stop_end_ = TimePoint::max();

  std::thread thread_;  // last
};

}  // namespace millrace
