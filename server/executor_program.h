#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "millrace/executor/v1/executor.pb.h"
#include "models/repository/model_repository.h"
#include "server/config/server_config.h"
#include "server/executors/executor_pool.h"
#include "server/metrics/metric_writer.h"

namespace millrace::server {

// The argument with which the server program starts itself as an executor.
inline constexpr std::string_view kExecutorArgument = "--as-executor";

// Call it at the start of main. If the server started the program as an executor, it runs that and
// returns the exit status.
std::optional<int> ExecutorMain(int argc, char** argv);

// These functions make what a server with executors needs of the configuration.
ExecutorPool::Options MakeExecutorOptions(const ServerConfig& config, int workers,
                                          CrashFolder* crashes);
// Returns what clients and operators are told of executors that are missing; empty: none is.
std::string DescribeDegraded(const ExecutorPool::Stats& stats);
models::ModelFactory MakeRemoteFactory(ExecutorPool& executors);
// Collects what the executors have done. executors: null if there are none.
void CollectExecutors(const ExecutorPool* executors, MetricWriter& writer);

}  // namespace millrace::server
