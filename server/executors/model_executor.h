#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "models/core/model.h"
#include "mps_runtime/base/file.h"
#include "server/config/server_config.h"
#include "server/crashes/crash_page.h"
#include "server/scheduling/device.h"

namespace millrace::server {

// The parts of an executor's program that need libtorch: a seam for tests.
class ExecutorHost {
 public:
  virtual ~ExecutorHost() = default;

  // Has a crash of the process leave its signal and stack in the page, which outlives RunExecutor's
  // threads. Called once, before anything else.
  virtual void ReportCrashes(CrashPage& page) = 0;
  // Called once, before anything below.
  virtual absl::Status Configure(const ServerConfig& settings) = 0;
  // The number of threads that may compute at once.
  virtual int Cores() const = 0;
  virtual Device& device() = 0;
  // Loads a model and warms it up. Called on the thread that called RunExecutor.
  virtual absl::StatusOr<std::unique_ptr<const models::Model>> Load(std::string_view name,
                                                                    int64_t version) = 0;
  // Called before the first step: what threads compile from then on is none of a warm-up.
  virtual void FinishWarmUp() {}
  // Called on another thread when the front has gone. Steps and loads may still run, so a program
  // ends here; if this returns, RunExecutor waits for them.
  virtual void OnFrontGone() = 0;
};

// Runs an executor: loads models and runs steps as the front at the other end of `control` orders,
// until that goes away, which is OK. Else returns why it had to end, such as a malformed message.
// version: of the program.
absl::Status RunExecutor(FileDescriptor control, std::string_view version, ExecutorHost& host);

}  // namespace millrace::server
