#pragma once

#include <string>

#include "server/http/http_server.h"
#include "server/metrics/metrics.h"

namespace millrace::server {

// What a server for scrapes alone may take on: few at once, whatever connects.
HttpServer::Options MetricsServerOptions(const std::string& address);

// Adds GET /metrics. The metrics outlive the server.
void AddMetricsRoute(HttpServer& server, const Metrics& metrics);

}  // namespace millrace::server
