// libtorch 2.15's pool of streams.
#include <ATen/mps/MPSStream.h>
#include <c10/util/Exception.h>

#include <atomic>

#include "tests/fakes/mps/stream_state.h"

namespace millrace::mps_standin {

bool HasPool() { return true; }

}  // namespace millrace::mps_standin

namespace at::mps {

void setCurrentMPSStream(MPSStream* stream) { millrace::mps_standin::SetCurrent(stream); }

MPSStream* getStreamByID(int64_t stream_id) {
  TORCH_CHECK(stream_id >= 0 && stream_id <= 32, "Invalid stream ID: ", stream_id);
  return millrace::mps_standin::StreamOf(stream_id);
}

MPSStream* getStreamFromPool() {
  static std::atomic<int64_t> next{0};
  return getStreamByID(next++ % 32 + 1);
}

}  // namespace at::mps
