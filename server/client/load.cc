#include <cstdio>

#include "server/client/admin_call.h"
#include "server/client/client.h"
#include "server/config/command_line.h"

namespace millrace {

int RunLoad(const LoadCommand& command) {
  v1::LoadModelRequest request;
  request.set_model(command.model);
  v1::LoadModelResponse response;
  if (!CallAdmin(command.client, &v1::AdminService::Stub::LoadModel, request, response))
    return kExitFailed;
  std::printf("%s version %s is loaded\n", response.model().name().c_str(),
              response.model().version().c_str());
  return kExitOk;
}

int RunUnload(const UnloadCommand& command) {
  v1::UnloadModelRequest request;
  request.set_model(command.model);
  v1::UnloadModelResponse response;
  if (!CallAdmin(command.client, &v1::AdminService::Stub::UnloadModel, request, response))
    return kExitFailed;
  std::printf("%s is unloaded\n", command.model.c_str());
  return kExitOk;
}

}  // namespace millrace
