#include "server/metrics/metrics_routes.h"

#include <chrono>

#include "server/http/http_routes.h"

namespace millrace::server {

HttpServer::Options MetricsServerOptions(const std::string& address) {
  return {.address = address,
          .setting = "--metrics-address",
          .max_body_bytes = 0,
          .max_requests = 16,
          .max_waiting = 16,
          .max_connections = 64,
          .max_head_bytes = size_t{16} << 10,
          .write_timeout = std::chrono::seconds(2),
          .compress = true};
}

void AddMetricsRoute(HttpServer& server, const Metrics& metrics) {
  server.routes().Get("/metrics", [&metrics](const httplib::Request&, httplib::Response& response) {
    response.set_content(metrics.Text(), "text/plain; version=0.0.4; charset=utf-8");
  });
}

}  // namespace millrace::server
