#pragma once

#include <ATen/mps/MPSStream.h>

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "tests/fakes/mps/metal.h"
#include "tests/fakes/mps/serial_queue.h"

namespace millrace::mps_standin {

// The state behind an MPSStream of the stand-in.
struct StreamState {
  dispatch_queue_s queue;
  CommandQueue gpu;
  // On the queue only.
  std::shared_ptr<CommandBuffer> open, last_committed;
  std::atomic<std::thread::id> current_on{};  // the thread whose current stream it is
  std::atomic<int> buffers{0};                // not completed, the open one included

  std::mutex mu;
  std::optional<std::string> error;  // the error of the first buffer that failed
};

// Returns true if libtorch has a pool of streams: one of two source files defines it.
bool HasPool();
// Sets the stream of the calling thread; null: the default stream.
void SetCurrent(at::mps::MPSStream* stream);
// The process's stream of that number, 0..32, made at the first call.
at::mps::MPSStream* StreamOf(int64_t id);

}  // namespace millrace::mps_standin
