#pragma once

#include <memory>
#include <span>

#include "absl/status/status.h"

namespace millrace::server {

class ServedModel;

// Runs the jobs of the scheduler's queues. Today its workers are threads of this process; the
// interface leaves room for child processes, since a Job is plain data.
class Executor {
 public:
  virtual ~Executor() = default;

  // Starts the workers and waits until each has warmed up on the models; the first failure stops
  // all of them and is returned.
  virtual absl::Status Start(std::span<const std::shared_ptr<ServedModel>> models) = 0;
  // Waits until every worker has finished its step and ended; call it after Scheduler::Close.
  // Idempotent.
  virtual void Join() = 0;
};

}  // namespace millrace::server
