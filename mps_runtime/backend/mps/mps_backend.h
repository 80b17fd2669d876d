#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "mps_runtime/backend.h"

namespace at::mps {
class MPSStream;
}

namespace millrace::runtime {

// Apple's GPU through libtorch's MPS streams, in plain C++. Slot 0 is the default stream, which
// only the main thread may use. Slots 1..31 are the streams of the same numbers in libtorch's pool,
// each with a serial dispatch queue that all work on the stream has to go through.
//
// libtorch before 2.15 cannot return a stream by its number. There, one worker shares the default
// stream with the main thread, one forward at a time.
//
// Nothing here waits for, commits or empties more than the calling thread's own stream, because
// libtorch's calls for the whole device use the queues of other threads.
class MpsBackend final : public Backend {
 public:
  // Concurrent forwards without a calibrated profile: as many as an nn.Linear without a graph was
  // seen to survive.
  static constexpr int kDefaultConcurrency = 2;

  MpsBackend();

  DeviceType device() const override { return DeviceType::kMps; }
  std::string DeviceName() const override;
  int SafeConcurrency() const override { return HasPool() ? kDefaultConcurrency : 1; }
  int MaxWorkers() const override { return HasPool() ? kWorkerSlots : 1; }
  std::string WhyFewWorkers() const override;
  ForwardMode DefaultMode() const override;

  void Bootstrap() override;
  void BindThread(Stream stream, int intra_op_threads) override;
  void UnbindThread(Stream stream) noexcept override;
  bool IsBound(Stream stream) const override;
  void Synchronize(Stream stream) override;
  void* EnterForward() override;
  void LeaveForward(void* scope) noexcept override;
  bool CompilesShapesByThread() const override { return HasGraphsByThread(); }
  int64_t AllocatedBytes() const override;

 private:
  using GetStreamById = at::mps::MPSStream* (*)(int64_t);
  using SetCurrentStream = void (*)(at::mps::MPSStream*);

  bool HasPool() const { return get_stream_by_id_ != nullptr && set_current_stream_ != nullptr; }
  // In a stock libtorch all threads share the MPSGraph objects.
  bool HasGraphsByThread() const { return patch_level_ >= 1; }
  at::mps::MPSStream* At(Stream stream) const { return streams_[static_cast<size_t>(stream.slot)]; }

  const GetStreamById get_stream_by_id_;       // null when libtorch has no such function
  const SetCurrentStream set_current_stream_;  // null when libtorch has no such function
  const int patch_level_;                      // see Provenance::mps_patch_level
  std::array<at::mps::MPSStream*, kStreamSlots> streams_ = {};  // by slot; set by Bootstrap
};

}  // namespace millrace::runtime
