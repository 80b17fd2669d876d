#pragma once

#include "server/frontends/kserve/repository_actions.h"
#include "server/rpc/rpc_service.h"
#include "server/security/api_key_store.h"

namespace millrace::server {

// These return the functions of the methods of Triton's model repository extension over gRPC, with
// the rights of AdminService: users may list models, admins load and unload them. keys: null where
// none are required; they must outlive the functions.
RpcService::Function IndexingRepository(RepositoryActions actions, const ApiKeyStore* keys);
RpcService::Function LoadingModels(RepositoryActions actions, const ApiKeyStore* keys);
RpcService::Function UnloadingModels(RepositoryActions actions, const ApiKeyStore* keys);

}  // namespace millrace::server
