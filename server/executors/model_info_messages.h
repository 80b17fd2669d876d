#pragma once

#include "absl/status/statusor.h"
#include "millrace/executor/v1/executor.pb.h"
#include "models/core/model_info.h"

// Descriptions of models as messages from an executor to the front.
namespace millrace::server {

void WriteModelInfo(const models::ModelInfo& info, executor::v1::ModelInfo& message);
// Fails with INVALID_ARGUMENT in one line if the message is not one that WriteModelInfo writes.
absl::StatusOr<models::ModelInfo> ReadModelInfo(const executor::v1::ModelInfo& message);

}  // namespace millrace::server
