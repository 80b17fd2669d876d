#include "server/services/infer_service.h"

#include <utility>
#include <variant>

#include "google/protobuf/arena.h"
#include "models/core/strings.h"
#include "server/services/infer_codec.h"
#include "server/services/message_codec.h"
#include "server/services/status_mapping.h"
#include "server/services/unary_call.h"
#include "server/version.h"

namespace millrace::server {
namespace {

constexpr size_t kMaxIdBytes = 128;

class InferCall final : public UnaryCall {
 public:
  InferCall(Services& services, grpc::CallbackServerContext& rpc, const grpc::ByteBuffer& request,
            grpc::ByteBuffer& response)
      : UnaryCall(services, rpc, Method::kModelInfer, request, response) {}

  void Emit(models::Output output) override {
    output_ = std::get<models::InferOutput>(std::move(output));
  }

 private:
  absl::StatusOr<Work> Decode() override {
    google::protobuf::Arena arena;
    auto& request = *google::protobuf::Arena::CreateMessage<inference::ModelInferRequest>(&arena);
    if (absl::Status status = ParseMessage(UnaryCall::request(), request); !status.ok())
      return status;
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

  absl::Status Encode(grpc::ByteBuffer& buffer) override {
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

grpc::ServerUnaryReactor* InferService::ServerLive(grpc::CallbackServerContext* rpc,
                                                   const inference::ServerLiveRequest*,
                                                   inference::ServerLiveResponse* response) {
  response->set_live(true);
  return Answer(rpc, absl::OkStatus());
}

grpc::ServerUnaryReactor* InferService::ServerReady(grpc::CallbackServerContext* rpc,
                                                    const inference::ServerReadyRequest*,
                                                    inference::ServerReadyResponse* response) {
  response->set_ready(ready_());
  return Answer(rpc, absl::OkStatus());
}

grpc::ServerUnaryReactor* InferService::ModelReady(grpc::CallbackServerContext* rpc,
                                                   const inference::ModelReadyRequest* request,
                                                   inference::ModelReadyResponse* response) {
  if (absl::Status status = Authenticate(services_.keys, *rpc, Role::kUser); !status.ok())
    return Answer(rpc, status);
  response->set_ready(ready_() && services_.models.Find(request->name(), request->version()).ok());
  return Answer(rpc, absl::OkStatus());
}

grpc::ServerUnaryReactor* InferService::ServerMetadata(
    grpc::CallbackServerContext* rpc, const inference::ServerMetadataRequest*,
    inference::ServerMetadataResponse* response) {
  if (absl::Status status = Authenticate(services_.keys, *rpc, Role::kUser); !status.ok())
    return Answer(rpc, status);
  response->set_name("millrace");
  response->set_version(kVersion);
  return Answer(rpc, absl::OkStatus());
}

grpc::ServerUnaryReactor* InferService::ModelMetadata(
    grpc::CallbackServerContext* rpc, const inference::ModelMetadataRequest* request,
    inference::ModelMetadataResponse* response) {
  if (absl::Status status = Authenticate(services_.keys, *rpc, Role::kUser); !status.ok())
    return Answer(rpc, status);
  const auto model = services_.models.Find(request->name(), request->version());
  if (!model.ok()) return Answer(rpc, model.status());
  const models::ModelInfo& info = (*model)->info();
  response->set_name(info.name);
  response->add_versions(StrCat(info.version));
  response->set_platform(info.platform);
  for (const models::TensorSpec& spec : info.inputs) AddTensor(spec, *response->add_inputs());
  for (const models::TensorSpec& spec : info.outputs) AddTensor(spec, *response->add_outputs());
  return Answer(rpc, absl::OkStatus());
}

grpc::ServerUnaryReactor* InferService::ModelInfer(grpc::CallbackServerContext* rpc,
                                                   const grpc::ByteBuffer* request,
                                                   grpc::ByteBuffer* response) {
  auto* call = new InferCall(services_, *rpc, *request, *response);
  call->Start();
  return call;
}

}  // namespace millrace::server
