#pragma once

#include <functional>
#include <optional>

#include "inference/grpc_service.pb.h"
#include "server/frontends/kserve/repository_actions.h"
#include "server/requests/services.h"
#include "server/rpc/rpc_service.h"

namespace millrace::server {

// Serves KServe v2's inference.GRPCInferenceService. Thread-safe.
class InferService final : public RpcService {
 public:
  // ready: returns true once every model is warm and requests are accepted.
  // repository: loads models; without it the methods for that are not served.
  InferService(Services& services, std::function<bool()> ready,
               const std::optional<RepositoryActions>& repository = std::nullopt);

 private:
  absl::Status ModelReady(const inference::ModelReadyRequest& request,
                          inference::ModelReadyResponse& response) const;
  absl::Status ServerMetadata(const inference::ServerMetadataRequest& request,
                              inference::ServerMetadataResponse& response) const;
  absl::Status ModelMetadata(const inference::ModelMetadataRequest& request,
                             inference::ModelMetadataResponse& response) const;
  absl::Status ModelConfig(const inference::ModelConfigRequest& request,
                           inference::ModelConfigResponse& response) const;
  absl::Status ModelStatistics(const inference::ModelStatisticsRequest& request,
                               inference::ModelStatisticsResponse& response) const;

  Services& services_;
  const std::function<bool()> ready_;
};

}  // namespace millrace::server
