#pragma once

#include <memory>
#include <span>

#include "absl/status/status.h"

namespace millrace::server {

class ServedModel;

// What works off the scheduler's queues. Today threads of this process; the interface leaves room
// for child processes, since a Job is plain data.
class Executor {
 public:
  virtual ~Executor() = default;

  // Starts the workers and waits until each has warmed up on the models; the first failure stops
  // all and is returned.
  virtual absl::Status Start(std::span<const std::shared_ptr<ServedModel>> models) = 0;
  // Waits until every worker has ended its step and gone; call after Scheduler::Close. Idempotent.
  virtual void Join() = 0;
};

}  // namespace millrace::server
