#pragma once

#include <string>
#include <string_view>

#include "models/repository/model_repository.h"
#include "mps_runtime/runtime.h"
#include "server/config/server_config.h"
#include "server/control/model_safety.h"
#include "server/executors/executor_pool.h"
#include "server/metrics/metric_writer.h"
#include "server/server.h"

namespace millrace::server {

// The argument with which a server starts the server program as an executor.
inline constexpr std::string_view kExecutorArgument = "--as-executor";

// These functions make what a server with executors needs of the configuration.

Compute RemoteCompute();
runtime::RuntimeOptions MakeFrontOptions(const ServerConfig& config, ModelSafety& safety);
ExecutorPool::Options MakeExecutorOptions(const ServerConfig& config, int workers,
                                          CrashFolder* crashes);
// Returns what clients and operators are told of executors that are missing; empty: none is.
std::string DescribeDegraded(const ExecutorPool::Stats& stats);
// Warns if the models may need more memory in so many processes than there is. Weights that are
// mapped are shared, so that it is not certain.
void WarnOfMemory(const ServerConfig& config, const models::ModelRepository& repository);
models::ModelFactory MakeRemoteFactory(ExecutorPool& executors);
// Collects what the executors have done. executors: null if there are none.
void CollectExecutors(const ExecutorPool* executors, MetricWriter& writer);

}  // namespace millrace::server
