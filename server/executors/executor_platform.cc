#include "server/executors/executor_platform.h"

#include "mps_runtime/base/cpu_info.h"
#include "mps_runtime/find_libtorch.h"

namespace millrace::server {
namespace {

using runtime::DeviceType;

// -1: the thread has no lane.
thread_local int current_lane = -1;

class LaneBackend final : public runtime::Backend {
 public:
  explicit LaneBackend(DeviceType device) : device_(device) {}

  DeviceType device() const override { return device_; }
  std::string DeviceName() const override {
    return computes_here_ ? runtime::CpuModelName() : "of the executors";
  }
  // As the processor's backend, which executors have. Other devices have limits of their own, which
  // each executor keeps.
  int SafeConcurrency() const override {
    return computes_here_ ? runtime::AvailableCores() : runtime::kWorkerSlots;
  }
  int UsefulConcurrency() const override { return SafeConcurrency(); }
  int UsefulWorkers() const override {
    return device_ == DeviceType::kCuda ? kWorkersOfACard : runtime::kWorkerSlots;
  }

  void Bootstrap() override {}
  void BindThread(runtime::Stream stream, int) override { current_lane = stream.slot; }
  void UnbindThread(runtime::Stream) noexcept override { current_lane = -1; }
  bool IsBound(runtime::Stream stream) const override {
    return stream.device == device_ && stream.slot == current_lane;
  }
  void Synchronize(runtime::Stream) override {}

 private:
  const DeviceType device_;
  const bool computes_here_ = runtime::TraitsOf(device_).computes_on_host;
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
    return std::make_unique<LaneBackend>(device.value_or(DeviceType::kCpu));
  }
};

}  // namespace

const runtime::Platform& ExecutorPlatform() {
  static const FrontPlatform platform;
  return platform;
}

}  // namespace millrace::server
