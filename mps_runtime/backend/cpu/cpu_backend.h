#pragma once

#include "mps_runtime/backend.h"

namespace millrace::runtime {

// A stream of the CPU is a lane: a thread that runs its own operators, each inside its own budget
// of intra-op threads. Operators finish before they return, so there is nothing to wait for, and
// encode-lock mode behaves as serial mode.
//
// A bound thread flushes denormal numbers to zero. That costs nothing on normal numbers, and a
// matrix product of denormals was measured at 116 times the time. The graph cache stays empty on
// this device: a TorchScript module that was frozen and optimised for each shape was no faster than
// one frozen once for all shapes.
class CpuBackend final : public Backend {
 public:
  CpuBackend();

  DeviceType device() const override { return DeviceType::kCpu; }
  std::string DeviceName() const override;
  // Returns the number of cores, which more forwards would only share.
  int SafeConcurrency() const override { return cores_; }
  int UsefulConcurrency() const override { return cores_; }

  void Bootstrap() override;
  void BindThread(Stream stream, int intra_op_threads) override;
  void UnbindThread(Stream stream) noexcept override;
  bool IsBound(Stream stream) const override;
  void Synchronize(Stream) override {}

 private:
  const int cores_;
};

}  // namespace millrace::runtime
