#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "server/config/server_config.h"
#include "server/control/server_status.h"
#include "server/frontends/console/shelf_view.h"
#include "server/frontends/kserve/repository_routes.h"
#include "server/http/http_server.h"
#include "server/metrics/metrics.h"
#include "server/requests/services.h"
#include "server/scheduling/step_timeline.h"
#include "server/security/api_key_store.h"
#include "server/sockets/inherited_sockets.h"
#include "server/websocket/websocket_server.h"

namespace millrace::server {

// The HTTP servers of the process. One has the page of metrics; the other has health, the APIs of
// all front ends with their WebSockets, and the console. Main thread only, but for what says
// otherwise.
class HttpFrontEnds {
 public:
  // The parts of the server that the routes ask. They must outlive this.
  struct Sources {
    Services& services;
    const ServerStatus& status;
    const Metrics& metrics;
    const ApiKeyStore* keys;  // null: nobody is asked for a key
    const StepTimeline& steps;
    RepositoryActions repository;
    ShelfView::Sources shelf;                      // of the console
    std::function<std::vector<PullView>()> pulls;  // that the console shows; thread-safe
    std::function<bool()> started;  // false: requests for work are refused; thread-safe
  };

  // config, sockets: must outlive this.
  HttpFrontEnds(const ServerConfig& config, const InheritedSockets& sockets);

  // Binds the addresses that the configuration has, and answers from then on. Called once; after an
  // error, Stop ends what has been started.
  absl::Status Start(Sources sources);
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
  void AddRoutes(Sources sources);

  const ServerConfig& config_;
  const InheritedSockets& sockets_;
  std::unique_ptr<HttpServer> metrics_http_;
  WebSocketServer web_sockets_;
  std::unique_ptr<HttpServer> http_;
  std::atomic<bool> started_{false};  // the servers do not change any more
};

}  // namespace millrace::server
