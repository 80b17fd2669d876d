#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "mps_runtime/device_graph.h"
#include "mps_runtime/device_traits.h"
#include "mps_runtime/forward_mode.h"
#include "mps_runtime/stream.h"

namespace millrace::runtime {

// The interface to one kind of device. A stream is bound to one thread at a time, which the caller
// (StreamPool) ensures. Methods that name a thread act on the calling thread and may be called from
// several threads at once.
class Backend {
 public:
  virtual ~Backend() = default;

  virtual DeviceType device() const = 0;
  // Returns the model name of the CPU or accelerator, for people to read.
  virtual std::string DeviceName() const = 0;
  // Returns the number of concurrent forwards that are known to be safe and useful without a
  // calibrated profile; at least 1.
  virtual int SafeConcurrency() const = 0;
  // Returns the number of concurrent forwards beyond which nothing is gained: a calibrated profile
  // never raises the limit above it.
  virtual int UsefulConcurrency() const { return kWorkerSlots; }
  // Returns the number of worker threads beyond which the device serves no better: when the
  // configuration names no number, there is one for each core up to this.
  virtual int UsefulWorkers() const { return kWorkerSlots; }
  // Returns the number of worker threads that may have a stream; 1..31.
  virtual int MaxWorkers() const { return kWorkerSlots; }
  // Returns the reason, for people, why MaxWorkers is below 31; else empty.
  virtual std::string WhyFewWorkers() const { return {}; }
  // Returns the mode that is used when the configuration names none.
  virtual ForwardMode DefaultMode() const { return ForwardMode::kParallel; }

  // Main thread, once, before any other thread touches the device: performs the first uses that
  // race in the driver.
  virtual void Bootstrap() = 0;
  // Makes this the calling thread's current stream, with `intra_op_threads` (>= 1) threads for the
  // inside of one operator.
  virtual void BindThread(Stream stream, int intra_op_threads) = 0;
  // Undoes BindThread on the same thread. The stream must be idle.
  virtual void UnbindThread(Stream stream) noexcept = 0;
  // Returns true if libtorch would submit the calling thread's work to this stream.
  virtual bool IsBound(Stream stream) const = 0;
  // Waits for everything submitted to this stream, which must be bound to the calling thread.
  // Throws DeviceError.
  virtual void Synchronize(Stream stream) = 0;
  // Called around the host side of a forward, on one thread and properly nested, to release what
  // the system allocates outside libtorch. LeaveForward receives the result of EnterForward.
  virtual void* EnterForward() { return nullptr; }
  virtual void LeaveForward(void* /*scope*/) noexcept {}
  // Returns the memory that the driver holds for this process, including what it keeps for reuse; 0
  // where the device has no memory of its own. Any thread.
  virtual int64_t AllocatedBytes() const { return 0; }
  // Records what `submit` submits to this stream, which must be bound to the calling thread,
  // instead of running it. Null when the device or the stream cannot record. Throws what `submit`
  // throws, and on work that cannot be recorded.
  virtual std::unique_ptr<DeviceGraph> Capture(Stream, const std::function<void()>& /*submit*/) {
    return nullptr;
  }
  // Returns true if libtorch compiles a graph for each new shape and keeps it until the process
  // exits.
  bool CompilesShapes() const { return TraitsOf(device()).compiles_shapes; }
  // Returns true if each thread compiles and keeps those graphs on its own, until it ends.
  virtual bool CompilesShapesByThread() const { return false; }
  // Called after a forward failed. When memory was short, returns cached memory of libtorch to the
  // device, which may wait for all streams, and returns true.
  virtual bool ReleaseMemoryIfShort() noexcept { return false; }
};

// Returns the backend for a device, or for nullopt the best one that this build and machine have.
// Throws std::invalid_argument that names what is allowed when there is no such backend.
std::unique_ptr<Backend> MakeBackend(std::optional<DeviceType> device);

// One function for each device, linked from backend/<device>/ or, in a build without it, from
// backend/no_<device>.cc. Returns null and the reason when the device is not available.
std::unique_ptr<Backend> MakeCpuBackend(std::string& why_not);
std::unique_ptr<Backend> MakeCudaBackend(std::string& why_not);
std::unique_ptr<Backend> MakeMpsBackend(std::string& why_not);

}  // namespace millrace::runtime
