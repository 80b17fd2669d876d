#pragma once

#include "absl/status/statusor.h"
#include "inference/grpc_service.pb.h"
#include "models/core/model_info.h"
#include "models/core/payload.h"

namespace millrace::server {

// KServe v2 to native and back. Errors are INVALID_ARGUMENT with the field, the value and what is
// allowed.
//
// Takes raw contents out of the message instead of copying them.
absl::StatusOr<models::InferInput> DecodeInfer(inference::ModelInferRequest& request,
                                               const models::ModelInfo& model);
void EncodeInfer(models::InferOutput output, inference::ModelInferResponse& response);

}  // namespace millrace::server
