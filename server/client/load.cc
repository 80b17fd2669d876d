#include <cstdio>
#include <string>

#include "millrace/v1/admin.grpc.pb.h"
#include "server/client/client.h"
#include "server/client/connection.h"
#include "server/config/command_line.h"

namespace millrace {

int RunLoad(const LoadCommand& command) {
  const auto channel = Connect(command.client);
  if (!channel.ok()) return Fail(std::string(channel.status().message()));
  grpc::ClientContext context;
  Prepare(command.client, context);
  v1::LoadModelRequest request;
  request.set_model(command.model);
  v1::LoadModelResponse response;
  const grpc::Status status =
      v1::AdminService::NewStub(*channel)->LoadModel(&context, request, &response);
  if (!status.ok()) return Fail(Explain(status, command.client));
  std::printf("%s version %s is loaded\n", response.model().name().c_str(),
              response.model().version().c_str());
  return kExitOk;
}

int RunUnload(const UnloadCommand& command) {
  const auto channel = Connect(command.client);
  if (!channel.ok()) return Fail(std::string(channel.status().message()));
  grpc::ClientContext context;
  Prepare(command.client, context);
  v1::UnloadModelRequest request;
  request.set_model(command.model);
  v1::UnloadModelResponse response;
  const grpc::Status status =
      v1::AdminService::NewStub(*channel)->UnloadModel(&context, request, &response);
  if (!status.ok()) return Fail(Explain(status, command.client));
  std::printf("%s is unloaded\n", command.model.c_str());
  return kExitOk;
}

}  // namespace millrace
