#pragma once

#include <c10/core/Device.h>
#include <c10/cuda/CUDAStream.h>

#include <atomic>
#include <cstdint>
#include <vector>

#include "mps_runtime/backend.h"

namespace millrace::runtime {

// Streams of one GPU, the first that CUDA_VISIBLE_DEVICES leaves. Slot 0 is the legacy default
// stream, which only the main thread may use; slots 1..31 are streams of libtorch's pool, which do
// not wait for it.
class CudaBackend final : public Backend {
 public:
  // Concurrent forwards without a calibrated profile. Eager forwards of small models gain up to
  // about eight streams on an H200, captured ones beyond that.
  static constexpr int kDefaultConcurrency = 8;

  // One worker computes while the other prepares its batch. More of them split the batches, and
  // each records every shape again.
  static constexpr int kUsefulWorkers = 2;

  DeviceType device() const override { return DeviceType::kCuda; }
  std::string DeviceName() const override;
  int UsefulWorkers() const override { return kUsefulWorkers; }
  int SafeConcurrency() const override { return kDefaultConcurrency; }

  void Bootstrap() override;
  void BindThread(Stream stream, int intra_op_threads) override;
  void UnbindThread(Stream stream) noexcept override;
  bool IsBound(Stream stream) const override;
  void Synchronize(Stream stream) override;
  std::unique_ptr<DeviceGraph> Capture(Stream stream, const std::function<void()>& submit) override;
  bool ReleaseMemoryIfShort() noexcept override;
  int64_t AllocatedBytes() const override;

 private:
  std::vector<c10::cuda::CUDAStream> streams_;  // by slot
  std::atomic<int64_t> failed_allocations_{0};  // failures after which memory was released
};

}  // namespace millrace::runtime
