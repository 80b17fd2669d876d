#include "server/frontends/prometheus/metrics_routes.h"

#include <chrono>

#include "server/http/http_routes.h"
#include "server/metrics/open_metrics.h"

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
  server.routes().Get(
      "/metrics", [&metrics](const httplib::Request& request, httplib::Response& response) {
        response.set_header("Vary", "Accept, Accept-Encoding");
        if (PrefersOpenMetrics(request.get_header_value("Accept"))) {
          response.set_content(metrics.OpenMetrics(), kOpenMetricsType);
        } else {
          response.set_content(metrics.Text(), "text/plain; version=0.0.4; charset=utf-8");
        }
      });
}

}  // namespace millrace::server
