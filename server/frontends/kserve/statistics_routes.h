#pragma once

#include "server/http/http_server.h"
#include "server/requests/services.h"

namespace millrace::server {

// Adds GET /v2/models/stats and /v2/models/{model}[/versions/{version}]/stats of Triton's
// statistics extension. With keys required, they need one. The services, and what they borrow, must
// outlive the server.
void AddStatisticsRoutes(HttpServer& server, const Services& services);

}  // namespace millrace::server
