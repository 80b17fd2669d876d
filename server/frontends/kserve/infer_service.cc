#include "server/frontends/kserve/infer_service.h"

#include <string>
#include <utility>

#include "inference/grpc_service.pb.h"
#include "models/core/errors.h"
#include "models/core/strings.h"
#include "server/control/version.h"
#include "server/frontends/grpc/answer.h"
#include "server/frontends/grpc/call_metadata.h"
#include "server/frontends/grpc/cancellable_call.h"
#include "server/frontends/grpc/unary_call.h"
#include "server/frontends/kserve/infer_codec.h"
#include "server/frontends/kserve/model_config.h"
#include "server/frontends/kserve/model_statistics.h"
#include "server/frontends/kserve/repository_actions.h"
#include "server/rpc/rpc_service.h"
#include "server/security/api_key_store.h"

namespace millrace::server {
namespace {

template <typename Request>
absl::Status CheckRepositoryRequest(const Request& request) {
  if (!request.repository_name().empty()) {
    return InvalidArgument(
        "repository_name: must be empty; there is one repository, that of --models");
  }
  return absl::OkStatus();
}

LoadValue ValueOf(const inference::ModelRepositoryParameter& value) {
  if (value.has_string_param()) return value.string_param();
  if (value.has_bool_param()) return value.bool_param();
  return {};
}

// These return the functions of the methods of Triton's model repository extension over gRPC, with
// the rights of AdminService: users may list models, admins load and unload them. keys: null where
// none are required; they must outlive the functions.
RpcService::Function IndexingRepository(RepositoryActions actions, const ApiKeyStore* keys) {
  return Answering<inference::RepositoryIndexRequest, inference::RepositoryIndexResponse>(
      [actions = std::move(actions), keys](const ByteCall& call, const auto& request,
                                           auto& response) {
        absl::Status status = Authenticate(keys, call, Role::kUser);
        status.Update(CheckRepositoryRequest(request));
        if (!status.ok()) return status;
        for (const ModelStatusView& model : actions.models()) {
          const bool ready = TakesRequests(model.state);
          if (request.ready() && !ready) continue;
          auto& entry = *response.add_models();
          entry.set_name(model.info.name);
          if (ready) entry.set_version(StrCat(model.info.version));
          entry.set_state(std::string(IndexState(model.state)));
          entry.set_reason(model.error);
        }
        return absl::OkStatus();
      });
}

RpcService::Function LoadingModels(RepositoryActions actions, const ApiKeyStore* keys) {
  return [actions = std::move(actions), keys](ByteCall& call) {
    inference::RepositoryModelLoadRequest request;
    absl::Status status = ParseMessage(call.request(), request);
    status.Update(Authenticate(keys, call, Role::kAdmin));
    PullOrder order;
    for (const auto& [name, value] : request.parameters()) {
      if (status.ok()) status = TakeLoadParameter(name, ValueOf(value), order);
    }
    if (status.ok()) status = CheckRepositoryRequest(request);
    if (!status.ok()) return Answer(call, status, ByteBuffer());
    CancellableCall& handler = CancellableCall::Make();
    call.SetHandler(handler);
    auto cancel = BeginLoad(actions, request.model_name(), std::move(order),
                            [&call](const absl::Status& end) {
                              Answer(call, end, inference::RepositoryModelLoadResponse());
                            });
    if (!cancel.ok()) return Answer(call, cancel.status(), ByteBuffer());
    handler.SetCancel(*std::move(cancel));
  };
}

RpcService::Function UnloadingModels(RepositoryActions actions, const ApiKeyStore* keys) {
  return Answering<inference::RepositoryModelUnloadRequest,
                   inference::RepositoryModelUnloadResponse>(
      [actions = std::move(actions), keys](const ByteCall& call, const auto& request, auto&) {
        absl::Status status = Authenticate(keys, call, Role::kAdmin);
        bool remove = false;
        for (const auto& [name, value] : request.parameters()) {
          if (status.ok()) status = TakeUnloadParameter(name, ValueOf(value), remove);
        }
        if (status.ok()) status = CheckRepositoryRequest(request);
        return status.ok() ? Unload(actions, request.model_name(), remove) : status;
      });
}

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
  MILLRACE_ASSIGN_OR_RETURN(const auto model,
                            services_.models.Find(request.name(), request.version()));
  const models::ModelInfo& info = model->info();
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
  MILLRACE_ASSIGN_OR_RETURN(const auto model,
                            services_.models.Find(request.name(), request.version()));
  DescribeModel(model->info(), *response.mutable_config());
  return absl::OkStatus();
}

absl::Status InferService::ModelStatistics(const inference::ModelStatisticsRequest& request,
                                           inference::ModelStatisticsResponse& response) const {
  return CollectStatistics(services_, request.name(), request.version(), response);
}

}  // namespace millrace::server
