#pragma once

#include <string>

#include "server/http/http_server.h"
#include "server/metrics/metrics.h"

namespace millrace::server {

// Returns the options of a server for scrapes alone, which serves few requests at once.
HttpServer::Options MetricsServerOptions(const std::string& address);

// Adds GET /metrics, in Prometheus' text format or, for clients that prefer it, in OpenMetrics'.
// The metrics must outlive the server.
void AddMetricsRoute(HttpServer& server, const Metrics& metrics);

}  // namespace millrace::server
