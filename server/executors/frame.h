#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "mps_runtime/base/file.h"

namespace millrace::server {

// The greatest sizes of the two parts of a frame.
struct MessageLimits {
  uint32_t header = uint32_t{64} << 20;
  uint64_t behind = uint64_t{1} << 30;
};

// The unit of what the front and an executor send each other: fields, and large data behind them
// as plain bytes, which would be copied once more among the fields. A prefix of 16
// bytes has a magic number and the sizes of both, in the byte order of the machine.
struct MessageFrame {
  std::string header;
  std::string behind;
};

// Returns the prefix of a frame.
std::string MessagePrefix(uint32_t header, uint64_t behind);

// Takes frames out of the bytes of a connection. Not thread-safe.
class MessageReader {
 public:
  explicit MessageReader(const MessageLimits& limits = {}) : limits_(limits) {}

  void Append(std::string_view bytes) { bytes_.append(bytes); }
  // Returns the next frame, or nullopt until more bytes are appended. INVALID_ARGUMENT for what is
  // no frame or too large, known from its prefix; nothing behind it can be read.
  absl::StatusOr<std::optional<MessageFrame>> Next();
  // Returns true if bytes of a frame are there that is not complete.
  bool is_within_frame() const { return bytes_.size() > at_; }

 private:
  const MessageLimits limits_;
  std::string bytes_;
  size_t at_ = 0;  // where the next frame begins
};

// Sends and receives frames over a connected socket, which it owns. One thread may send while
// another receives. Neither raises SIGPIPE.
class MessageSocket {
 public:
  // Asked each time that nothing could be sent or received for the patience of the socket; false
  // ends the wait.
  using KeepWaiting = absl::FunctionRef<bool()>;

  explicit MessageSocket(FileDescriptor socket, const MessageLimits& limits = {});

  // patience > 0. Without a call a wait has no end.
  void SetPatience(std::chrono::milliseconds patience);

  // Sends a frame. Fails with UNAVAILABLE when the other side is gone, with DEADLINE_EXCEEDED when
  // the wait was ended, and with RESOURCE_EXHAUSTED when the frame is over the limits; after the
  // first two the connection is of no more use.
  absl::Status Send(std::string_view header, std::span<const std::string_view> behind,
                    KeepWaiting keep_waiting);
  // Waits for a frame. Fails as Send does, and as MessageReader::Next does.
  absl::StatusOr<MessageFrame> Receive(KeepWaiting keep_waiting);
  // Ends both directions; any thread may call it. Send and Receive, also those that wait, fail.
  void Shutdown();

  int descriptor() const { return socket_.get(); }

 private:
  const MessageLimits limits_;
  FileDescriptor socket_;
  MessageReader reader_;
  std::string buffer_;  // for what is received
};

// A pair of connected sockets, closed on exec.
struct SocketPair {
  FileDescriptor ours;
  FileDescriptor theirs;
};
absl::StatusOr<SocketPair> MakeSocketPair();

}  // namespace millrace::server
