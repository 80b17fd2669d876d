#include "server/frontends/kserve/infer_service.h"

#include <utility>

#include "models/core/strings.h"
#include "server/control/version.h"
#include "server/frontends/grpc/answer.h"
#include "server/frontends/grpc/call_metadata.h"
#include "server/frontends/grpc/unary_call.h"
#include "server/frontends/kserve/infer_codec.h"
#include "server/frontends/kserve/model_config.h"
#include "server/frontends/kserve/model_statistics.h"
#include "server/frontends/kserve/repository_calls.h"

namespace millrace::server {
namespace {

void AddTensor(const models::TensorSpec& spec,
               inference::ModelMetadataResponse::TensorMetadata& tensor) {
  tensor.set_name(spec.name);
  tensor.set_datatype(std::string(ToString(spec.type)));
  tensor.mutable_shape()->Add(spec.shape.begin(), spec.shape.end());
}

}  // namespace

InferService::InferService(Services& services, std::function<bool()> ready,
                           const std::optional<RepositoryActions>& repository)
    : RpcService("inference.GRPCInferenceService"), services_(services), ready_(std::move(ready)) {
  using namespace inference;
  Serve("ServerLive", Answering<ServerLiveRequest, ServerLiveResponse>(
                          [](const ByteCall&, const auto&, auto& response) {
                            response.set_live(true);
                            return absl::OkStatus();
                          }));
  Serve("ServerReady", Answering<ServerReadyRequest, ServerReadyResponse>(
                           [this](const ByteCall&, const auto&, auto& response) {
                             response.set_ready(ready_());
                             return absl::OkStatus();
                           }));
  const auto answering = [&](auto answer) {
    return Answering(services_.keys, Role::kUser, *this, answer);
  };
  Serve("ModelReady", answering(&InferService::ModelReady));
  Serve("ServerMetadata", answering(&InferService::ServerMetadata));
  Serve("ModelMetadata", answering(&InferService::ModelMetadata));
  Serve("ModelConfig", answering(&InferService::ModelConfig));
  Serve("ModelStatistics", answering(&InferService::ModelStatistics));
  Serve("ModelInfer", UnaryCall<InferTask>::Serving(services_));
  if (!repository) return;
  // Two of them read a folder, or free a model's weights, so they run elsewhere.
  ServeSlowly("RepositoryIndex", IndexingRepository(*repository, services_.keys));
  Serve("RepositoryModelLoad", LoadingModels(*repository, services_.keys));
  ServeSlowly("RepositoryModelUnload", UnloadingModels(*repository, services_.keys));
}

absl::Status InferService::ModelReady(const inference::ModelReadyRequest& request,
                                      inference::ModelReadyResponse& response) const {
  response.set_ready(ready_() && services_.models.Find(request.name(), request.version()).ok());
  return absl::OkStatus();
}

absl::Status InferService::ServerMetadata(const inference::ServerMetadataRequest& /*request*/,
                                          inference::ServerMetadataResponse& response) const {
  response.set_name("millrace");
  response.set_version(kVersion);
  response.add_extensions("model_configuration");
  response.add_extensions("model_repository");
  response.add_extensions("statistics");
  return absl::OkStatus();
}

absl::Status InferService::ModelMetadata(const inference::ModelMetadataRequest& request,
                                         inference::ModelMetadataResponse& response) const {
  const auto model = services_.models.Find(request.name(), request.version());
  if (!model.ok()) return model.status();
  const models::ModelInfo& info = (*model)->info();
  response.set_name(info.name);
  response.add_versions(StrCat(info.version));
  response.set_platform(info.platform);
  // Models of other tasks have no tensors of their own.
  if (const auto* infer = std::get_if<models::InferInfo>(&info.details)) {
    for (const models::TensorSpec& spec : infer->inputs) AddTensor(spec, *response.add_inputs());
    for (const models::TensorSpec& spec : infer->outputs) AddTensor(spec, *response.add_outputs());
  }
  return absl::OkStatus();
}

absl::Status InferService::ModelConfig(const inference::ModelConfigRequest& request,
                                       inference::ModelConfigResponse& response) const {
  const auto model = services_.models.Find(request.name(), request.version());
  if (!model.ok()) return model.status();
  DescribeModel((*model)->info(), *response.mutable_config());
  return absl::OkStatus();
}

absl::Status InferService::ModelStatistics(const inference::ModelStatisticsRequest& request,
                                           inference::ModelStatisticsResponse& response) const {
  return CollectStatistics(services_, request.name(), request.version(), response);
}

}  // namespace millrace::server
