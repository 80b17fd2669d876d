#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "server/http2/frame_reader.h"

namespace millrace::server {

// Ends the open calls of a connection a few at a time, by RST_STREAM frames in its client's name.
// gRPC ends them all at once when a connection breaks, and a thousand of them keep every other
// connection waiting for a tenth of a second. One thread at a time.
class GradualEnd {
 public:
  // So few end at once, which costs about as much as a turn of ReadTurns.
  static constexpr size_t kCallsAtOnce = 6;

  // seen: where gRPC is in the client's frames. at_fault: the frame that it must not see, and has
  // perhaps seen a part of its header; the default if there is none. streams: of the open calls.
  GradualEnd(const FrameReader& seen, const FrameHeader& at_fault, std::vector<uint32_t> streams);

  // Writes what gRPC reads next. Returns the number of bytes, which is 0 when all calls are over.
  size_t Write(std::span<char> bytes);
  // Returns true if there is nothing left to write.
  bool done() const { return next_.empty() && streams_.empty(); }

 private:
  std::string next_;  // bytes to be written
  std::vector<uint32_t> streams_;
};

}  // namespace millrace::server
