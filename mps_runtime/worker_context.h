#pragma once

#include <functional>
#include <memory>
#include <string>

#include "mps_runtime/device_graph.h"
#include "mps_runtime/graph_cache.h"
#include "mps_runtime/stream.h"

namespace millrace::runtime {

// The device state of one thread: its stream and its graph cache. It is created, used and destroyed
// on that thread and is not thread-safe. The main thread has one on slot 0 (for warm-up), each
// worker one on a leased slot. Runtime creates it.
class WorkerContext {
 public:
  virtual ~WorkerContext() = default;

  virtual Stream stream() const = 0;
  virtual GraphCache& graph_cache() = 0;
  // Waits until everything submitted to this thread's own stream has finished; throws DeviceError
  // when it failed. In encode-lock mode other threads may submit their work meanwhile. On the CPU
  // an operator has finished when it returns: there is no wait.
  virtual void Synchronize() = 0;
  // Records what `submit` submits to this thread's stream instead of running it, within a forward.
  // Null where the device, or the main thread's stream, cannot record. Throws what `submit` throws,
  // and on work that cannot be recorded. RunCached calls it when recording pays.
  virtual std::unique_ptr<DeviceGraph> Capture(const std::function<void()>& /*submit*/) {
    return nullptr;
  }
  // Returns true if this thread's graph cache may take a shape. Called before a forward whose key
  // the cache does not hold. `shapes` describes the shape for people. Throws ShapeRefused. See
  // ShapeRegistry.
  virtual bool AdmitShape(const GraphKey&, const std::function<std::string()>& /*shapes*/) {
    return true;
  }
};

}  // namespace millrace::runtime
