#pragma once

#include <atomic>
#include <cstddef>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "server/http/http_server.h"
#include "server/sockets/poll_group.h"
#include "server/sockets/poll_loop.h"
#include "server/websocket/connection.h"
#include "server/websocket/session.h"

namespace millrace {

// Serves WebSockets, which begin as requests to an HttpServer. The loop's thread reads and writes
// all of them and never waits for one, so that an idle one costs a descriptor and some 10 KiB.
//
// Start, Drain and Stop must be called on one thread at a time; Upgrade on any.
class WebSocketServer {
 public:
  struct Options {
    size_t max_connections = 1024;
    int max_connections_of_peer = 768;  // see Peer; >= 1
    WebSocketConnection::Options connection = {};
  };

  // loop: must outlive this.
  WebSocketServer(PollLoop& loop, Options options);

  // Returns OK once connections are served.
  absl::Status Start() { return group_.Start(); }
  // Closes the connections that are idle, now or when they become so, and opens no more.
  void Drain() { group_.Drain(); }
  // Closes all connections with 1001, for which clients have a moment. Idempotent.
  void Stop() { group_.Stop(); }

  struct Refusal {
    int http_status = 0;
    std::string message;
  };
  // For a handler of `http`: answers a request that opens a WebSocket, which then goes on in a
  // session. Returns why it does not: the response has headers then, and needs a body.
  std::optional<Refusal> Upgrade(const HttpServer& http, const httplib::Request& request,
                                 httplib::Response& response, const MakeWebSocketSession& make);

  // The connections that are open, and those that were opened so far.
  size_t open() const { return group_.places().held(); }
  size_t opened_total() const { return opened_total_; }

 private:
  const Options options_;
  PollLoop& loop_;
  std::atomic<size_t> opened_total_{0};
  PollGroup group_;  // last
};

}  // namespace millrace
