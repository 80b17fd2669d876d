#include "server/frontends/kserve/repository_calls.h"

#include <string>
#include <utility>

#include "inference/grpc_service.pb.h"
#include "models/core/strings.h"
#include "server/frontends/grpc/answer.h"
#include "server/frontends/grpc/call_metadata.h"
#include "server/frontends/grpc/cancellable_call.h"

namespace millrace::server {
namespace {

template <typename Request>
absl::Status CheckRepositoryRequest(const Request& request) {
  if (!request.repository_name().empty()) {
    return absl::InvalidArgumentError(
        "repository_name: must be empty; there is one repository, that of --models");
  }
  return absl::OkStatus();
}

LoadValue ValueOf(const inference::ModelRepositoryParameter& value) {
  if (value.has_string_param()) return value.string_param();
  if (value.has_bool_param()) return value.bool_param();
  return {};
}

}  // namespace

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

}  // namespace millrace::server
