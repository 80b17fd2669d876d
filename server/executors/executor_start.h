#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "mps_runtime/base/clock.h"
#include "server/config/server_config.h"
#include "server/executors/executor_link.h"
#include "server/executors/executor_process.h"

namespace millrace::server {

// Settings of a new executor; see ExecutorPool::Options.
struct ExecutorStart {
  size_t lanes;
  std::chrono::milliseconds patience;
  const std::string& version;
  const ServerConfig& settings;
};

// Starts an executor up to where it can load models. `link` is set as soon as there is one.
absl::Status StartExecutor(const ExecutorStart& start, ExecutorLauncher& launcher, Clock& clock,
                           absl::FunctionRef<bool()> keep_waiting,
                           std::shared_ptr<ExecutorLink>& link);

}  // namespace millrace::server
