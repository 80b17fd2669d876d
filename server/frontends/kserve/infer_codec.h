#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "inference/grpc_service.pb.h"
#include "models/core/model_info.h"
#include "models/core/payload.h"
#include "server/requests/request_run.h"
#include "server/rpc/byte_buffer.h"

namespace millrace::server {

// These functions convert KServe v2 messages to their native form and back. Errors are
// INVALID_ARGUMENT with the field, the value and what is allowed.
//
// Moves raw contents out of the message instead of copying them.
// ignored: gets the names of parameters that have no effect.
absl::StatusOr<models::InferInput> DecodeInfer(inference::ModelInferRequest& request,
                                               const models::ModelInfo& model,
                                               std::vector<std::string>& ignored);
void EncodeInfer(models::InferOutput output, inference::ModelInferResponse& response);

// The task of ModelInfer; see UnaryCall.
class InferTask {
 public:
  static constexpr Method kMethod = Method::kModelInfer;

  absl::StatusOr<Work> Decode(const ByteBuffer& message, const Services& services);
  void Emit(models::Output output, const RequestRun&) {
    output_ = std::get<models::InferOutput>(std::move(output));
  }
  absl::Status End(const absl::Status& status, const RequestRun& run, ByteBuffer& reply);
  const std::string& warning() const { return warning_; }

 private:
  std::string id_;
  std::string warning_;
  models::InferOutput output_;
};

}  // namespace millrace::server
