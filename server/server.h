#pragma once

#include <string>
#include <vector>

#include "models/core/model_kind.h"
#include "models/repository/model_repository.h"
#include "mps_runtime/platform.h"
#include "mps_runtime/runtime.h"
#include "server/config/server_config.h"

namespace millrace::server {

// The library and the models that a server computes with: see LocalCompute and RemoteCompute.
struct Compute {
  const runtime::Platform& platform;
  std::vector<std::string> operators;  // the operators that models of this process run
  // Makes the factory of models of this process. Null: the models are in executors.
  models::ModelFactory (*local_models)(const ServerConfig&, const runtime::Runtime&,
                                       const models::ModelCaches&) = nullptr;
};

// Runs `millrace serve`: builds everything on the main thread, serves until a signal, and stops in
// order. Returns the exit status.
int Serve(const ServerConfig& config, const Compute& compute);

}  // namespace millrace::server
