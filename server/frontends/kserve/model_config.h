#pragma once

#include "inference/grpc_service.pb.h"
#include "models/core/model_info.h"
#include "nlohmann/json_fwd.hpp"

namespace millrace::server {

// Describes a loaded model as Triton's configuration of it does.
void DescribeModel(const models::ModelInfo& info, inference::ModelConfig& config);
// The same as the JSON of Triton's HTTP, with what its tools take for granted there.
nlohmann::ordered_json ModelConfigJson(const models::ModelInfo& info);

}  // namespace millrace::server
