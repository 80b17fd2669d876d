#include "server/frontends/kserve/infer_service.h"

#include <utility>
#include <variant>

#include "google/protobuf/arena.h"
#include "models/core/strings.h"
#include "server/control/version.h"
#include "server/frontends/grpc/answer.h"
#include "server/frontends/grpc/message_codec.h"
#include "server/frontends/grpc/unary_call.h"
#include "server/frontends/kserve/infer_codec.h"

namespace millrace::server {
namespace {

constexpr size_t kMaxIdBytes = 128;

class InferCall final : public UnaryCall {
 public:
  InferCall(Services& services, ByteCall& call) : UnaryCall(services, call, Method::kModelInfer) {}

  void Emit(models::Output output) override {
    output_ = std::get<models::InferOutput>(std::move(output));
  }

 private:
  absl::StatusOr<Work> Decode() override {
    google::protobuf::Arena arena;
    auto& request = *google::protobuf::Arena::CreateMessage<inference::ModelInferRequest>(&arena);
    if (absl::Status status = ParseMessage(call().request(), request); !status.ok()) return status;
    if (request.model_name().empty()) return absl::InvalidArgumentError("model_name: is empty");
    if (request.id().size() > kMaxIdBytes) {
      return absl::InvalidArgumentError(
          StrCat("id: has ", request.id().size(), " bytes; at most ", kMaxIdBytes, " are allowed"));
    }
    auto model = services().models.FindForTask(models::Task::kInfer, request.model_name(),
                                               request.model_version());
    if (!model.ok()) return model.status();
    id_ = request.id();
    absl::StatusOr<models::InferInput> input = DecodeInfer(request, (*model)->info());
    if (!input.ok()) return input.status();
    return Work{*std::move(model), *std::move(input)};
  }

  absl::Status Encode(ByteBuffer& buffer) override {
    google::protobuf::Arena arena;
    auto& response = *google::protobuf::Arena::CreateMessage<inference::ModelInferResponse>(&arena);
    response.set_model_name(model()->info().name);
    response.set_model_version(StrCat(model()->info().version));
    response.set_id(std::move(id_));
    EncodeInfer(std::move(output_), response);
    return SerializeMessage(response, buffer);
  }

  std::string id_;
  models::InferOutput output_;
};

void AddTensor(const models::TensorSpec& spec,
               inference::ModelMetadataResponse::TensorMetadata& tensor) {
  tensor.set_name(spec.name);
  tensor.set_datatype(std::string(ToString(spec.type)));
  tensor.mutable_shape()->Add(spec.shape.begin(), spec.shape.end());
}

}  // namespace

InferService::InferService(Services& services, std::function<bool()> ready)
    : RpcService("inference.GRPCInferenceService"), services_(services), ready_(std::move(ready)) {
  using namespace inference;  // of long names
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
  Serve("ModelReady", Answering<ModelReadyRequest, ModelReadyResponse>(
                          [this](const ByteCall& call, const auto& request, auto& response) {
                            return ModelReady(call, request, response);
                          }));
  Serve("ServerMetadata", Answering<ServerMetadataRequest, ServerMetadataResponse>(
                              [this](const ByteCall& call, const auto&, auto& response) {
                                return ServerMetadata(call, response);
                              }));
  Serve("ModelMetadata", Answering<ModelMetadataRequest, ModelMetadataResponse>(
                             [this](const ByteCall& call, const auto& request, auto& response) {
                               return ModelMetadata(call, request, response);
                             }));
  Serve("ModelInfer", [this](ByteCall& call) { (new InferCall(services_, call))->Start(); });
}

absl::Status InferService::ModelReady(const ByteCall& call,
                                      const inference::ModelReadyRequest& request,
                                      inference::ModelReadyResponse& response) const {
  if (absl::Status status = Authenticate(services_.keys, call, Role::kUser); !status.ok())
    return status;
  response.set_ready(ready_() && services_.models.Find(request.name(), request.version()).ok());
  return absl::OkStatus();
}

absl::Status InferService::ServerMetadata(const ByteCall& call,
                                          inference::ServerMetadataResponse& response) const {
  if (absl::Status status = Authenticate(services_.keys, call, Role::kUser); !status.ok())
    return status;
  response.set_name("millrace");
  response.set_version(kVersion);
  return absl::OkStatus();
}

absl::Status InferService::ModelMetadata(const ByteCall& call,
                                         const inference::ModelMetadataRequest& request,
                                         inference::ModelMetadataResponse& response) const {
  if (absl::Status status = Authenticate(services_.keys, call, Role::kUser); !status.ok())
    return status;
  const auto model = services_.models.Find(request.name(), request.version());
  if (!model.ok()) return model.status();
  const models::ModelInfo& info = (*model)->info();
  response.set_name(info.name);
  response.add_versions(StrCat(info.version));
  response.set_platform(info.platform);
  for (const models::TensorSpec& spec : info.inputs) AddTensor(spec, *response.add_inputs());
  for (const models::TensorSpec& spec : info.outputs) AddTensor(spec, *response.add_outputs());
  return absl::OkStatus();
}

}  // namespace millrace::server
