#include "server/executors/executor_platform.h"

#include <stdexcept>

#include "models/core/strings.h"
#include "mps_runtime/base/cpu_info.h"
#include "mps_runtime/find_libtorch.h"

namespace millrace::server {
namespace {

using runtime::DeviceType;

// -1: the thread has no lane.
thread_local int current_lane = -1;

class LaneBackend final : public runtime::Backend {
 public:
  DeviceType device() const override { return DeviceType::kCpu; }
  std::string DeviceName() const override { return runtime::CpuModelName(); }
  // As the processor's backend, which executors have.
  int SafeConcurrency() const override { return cores_; }
  int UsefulConcurrency() const override { return cores_; }

  void Bootstrap() override {}
  void BindThread(runtime::Stream stream, int) override { current_lane = stream.slot; }
  void UnbindThread(runtime::Stream) noexcept override { current_lane = -1; }
  bool IsBound(runtime::Stream stream) const override {
    return stream.device == DeviceType::kCpu && stream.slot == current_lane;
  }
  void Synchronize(runtime::Stream) override {}

 private:
  const int cores_ = runtime::AvailableCores();
};

class FrontPlatform final : public runtime::Platform {
 public:
  runtime::Provenance Identify(const std::string& required) const override {
    runtime::Provenance provenance;
    if (const auto found = runtime::FindLibtorch()) provenance = *found;
    provenance.compiled_against = runtime::LibtorchCompiledAgainst();
    // Executors run with no other version.
    if (provenance.libtorch_version.empty())
      provenance.libtorch_version = provenance.compiled_against;
    CheckLibtorch(provenance, required);
    return provenance;
  }

  std::unique_ptr<runtime::Backend> MakeBackend(std::optional<DeviceType> device) const override {
    if (device.value_or(DeviceType::kCpu) != DeviceType::kCpu) {
      throw std::invalid_argument(StrCat("device = ", runtime::ToString(*device),
                                         ": executors have no such device; allowed is cpu"));
    }
    return std::make_unique<LaneBackend>();
  }
};

}  // namespace

const runtime::Platform& ExecutorPlatform() {
  static const FrontPlatform platform;
  return platform;
}

}  // namespace millrace::server
