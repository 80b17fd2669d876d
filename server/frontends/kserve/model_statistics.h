#pragma once

#include <string_view>

#include "absl/status/status.h"
#include "inference/grpc_service.pb.h"
#include "nlohmann/json_fwd.hpp"
#include "server/requests/services.h"

namespace millrace::server {

// Adds what loaded models have done, as Triton's statistics extension has it: of the model with
// this name and version, or, without a name, of all. NOT_FOUND names the model and those loaded.
absl::Status CollectStatistics(const Services& services, std::string_view name,
                               std::string_view version,
                               inference::ModelStatisticsResponse& response);

// The same over HTTP.
nlohmann::ordered_json StatisticsJson(const inference::ModelStatisticsResponse& statistics);

}  // namespace millrace::server
