#pragma once

#include "models/core/model_kind.h"
#include "models/repository/model_repository.h"
#include "mps_runtime/runtime.h"
#include "server/config/server_config.h"
#include "server/server.h"

namespace millrace::server {

// These functions make what a server needs that has its models itself. They need libtorch.

// Makes the factory of models that compute on the runtime's device.
models::ModelFactory MakeFactory(const ServerConfig& config, const runtime::Runtime& runtime,
                                 const models::ModelCaches& caches);

Compute LocalCompute();

}  // namespace millrace::server
