#pragma once

#include <memory>

#include "mps_runtime/runtime.h"
#include "server/scheduling/device.h"

namespace millrace::server {

// The Device of the real runtime. Thread-safe; the runtime must outlive it.
class RuntimeDevice final : public Device {
 public:
  explicit RuntimeDevice(runtime::Runtime& runtime) : runtime_(runtime) {}

  std::unique_ptr<runtime::WorkerContext> EnterWorker() override { return runtime_.EnterWorker(); }

  Duration RunForward(runtime::WorkerContext& context, models::Batch& batch) override {
    const runtime::ForwardScope scope(runtime_, context);
    batch.Forward(context);
    return scope.wait();
  }

  bool SharesCompiledShapes() const override { return runtime_.shares_compiled_shapes(); }
  bool ComputesOnWorkers() const override { return runtime_.device() == runtime::DeviceType::kCpu; }

 private:
  runtime::Runtime& runtime_;
};

}  // namespace millrace::server
