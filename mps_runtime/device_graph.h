#pragma once

#include <cstddef>

namespace millrace::runtime {

// Work that was recorded once on a stream and is submitted again as a whole. It belongs to the
// thread that recorded it, which must also destroy it; the destructor waits for what is still
// running.
class DeviceGraph {
 public:
  virtual ~DeviceGraph() = default;

  // Submits the recorded work to the stream that it was recorded on; does not wait. Throws
  // DeviceError.
  virtual void Replay() = 0;
  // Returns an estimate of the device memory that it holds, without what its inputs share with
  // others.
  virtual size_t SizeBytes() const = 0;
};

}  // namespace millrace::runtime
