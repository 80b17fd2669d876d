#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <string_view>

#include "absl/status/status.h"
#include "server/config/server_config.h"
#include "server/frontends/front_end.h"
#include "server/http/http_server.h"
#include "server/metrics/metrics.h"
#include "server/sockets/inherited_sockets.h"
#include "server/sockets/poll_loop.h"
#include "server/websocket/websocket_server.h"

namespace millrace::server {

// The names of their sockets, where a service manager passes them.
inline constexpr std::string_view kHttpSocket = "http";
inline constexpr std::string_view kMetricsSocket = "metrics";

// The HTTP servers of the process. One has the page of metrics; the other has health, the APIs of
// all front ends with their WebSockets, and the console. Main thread only, but for what says
// otherwise.
class HttpFrontEnds {
 public:
  // config, sockets, session_loop: must outlive this. session_loop: serves WebSockets.
  HttpFrontEnds(const ServerConfig& config, const InheritedSockets& sockets,
                PollLoop& session_loop);

  // Binds the addresses that the configuration has, and answers from then on. Called once; after an
  // error, Stop ends what has been started. The parts must outlive this.
  absl::Status Start(const FrontEndParts& parts, std::span<const FrontEnd* const> front_ends);
  // Has clients of HTTP send their next requests elsewhere.
  void CloseConnections() {
    if (http_ != nullptr) http_->CloseConnections();
  }
  // Ends WebSockets once what is under way on them is done.
  void Drain() { web_sockets_.Drain(); }
  // Ends connections, but for those of the page of metrics, which ends with this.
  void Stop();

  // The ports; 0: not served.
  int port() const { return http_ ? http_->port() : 0; }
  int metrics_port() const { return metrics_http_ ? metrics_http_->port() : 0; }
  // Thread-safe.
  void Collect(MetricWriter& writer) const;

 private:
  void AddRoutes(const FrontEndParts& parts, std::span<const FrontEnd* const> front_ends);

  const ServerConfig& config_;
  const InheritedSockets& sockets_;
  std::unique_ptr<HttpServer> metrics_http_;
  WebSocketServer web_sockets_;
  std::unique_ptr<HttpServer> http_;
  std::atomic<bool> started_{false};  // the servers do not change any more
};

}  // namespace millrace::server
