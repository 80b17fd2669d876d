#pragma once

#include <string_view>

#include "absl/status/status.h"
#include "inference/grpc_service.pb.h"
#include "server/http/http_server.h"
#include "server/requests/services.h"

namespace millrace::server {

// Adds what loaded models have done, as Triton's statistics extension has it: of the model with
// this name and version, or, without a name, of all. NOT_FOUND names the model and those loaded.
absl::Status CollectStatistics(const Services& services, std::string_view name,
                               std::string_view version,
                               inference::ModelStatisticsResponse& response);

// Adds GET /v2/models/stats and /v2/models/{model}[/versions/{version}]/stats of Triton's
// statistics extension. With keys required, they need one. The services, and what they borrow, must
// outlive the server.
void AddStatisticsRoutes(HttpServer& server, const Services& services);

}  // namespace millrace::server
