#pragma once

#include <memory>
#include <optional>
#include <string>

#include "mps_runtime/backend.h"
#include "mps_runtime/provenance.h"
#include "mps_runtime/stream.h"

namespace millrace::runtime {

// The state that a library keeps for one thread with a context. Used and destroyed on that thread.
class PlatformThread {
 public:
  virtual ~PlatformThread() = default;

  // Called around a forward; forwards do not nest.
  virtual void EnterForward() = 0;
  virtual void LeaveForward() noexcept = 0;
};

// The library that computes for a Runtime. Libtorch() is the one that computes in this process; a
// server with executors has one that loads nothing. Thread-safe.
class Platform {
 public:
  virtual ~Platform() = default;

  // Returns what the library is: all but device, device_name and threads. Throws as CheckLibtorch.
  virtual Provenance Identify(const std::string& required) const = 0;
  // Returns the backend for a device, or for nullopt the best one that there is. Throws
  // std::invalid_argument that names what is allowed when there is no such backend.
  virtual std::unique_ptr<Backend> MakeBackend(std::optional<DeviceType> device) const = 0;
  // Called on each thread that gets a context. Null: nothing is kept for it.
  virtual std::unique_ptr<PlatformThread> EnterThread() const { return nullptr; }
};

}  // namespace millrace::runtime
