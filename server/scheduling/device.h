#pragma once

#include <memory>

#include "models/core/model.h"
#include "mps_runtime/base/clock.h"
#include "mps_runtime/worker_context.h"

namespace millrace::server {

// The part of the stream runtime that workers need: a seam that keeps libtorch out of the
// scheduling code and its tests. Thread-safe.
class Device {
 public:
  virtual ~Device() = default;

  // Gives the calling thread its device state, which must be destroyed on that thread. Throws when
  // no stream is free.
  virtual std::unique_ptr<runtime::WorkerContext> EnterWorker() = 0;
  // Runs the batch's device phase under a permit; returns how long it waited for the permit. Throws
  // what Forward throws.
  virtual Duration RunForward(runtime::WorkerContext& context, models::Batch& batch) = 0;
  // Returns true if a shape that the device compiles on one thread serves all threads.
  virtual bool SharesCompiledShapes() const { return false; }
  // Returns true if forwards compute on the workers' own threads, so that idle ones can help.
  virtual bool ComputesOnWorkers() const { return false; }
};

}  // namespace millrace::server
