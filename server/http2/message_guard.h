#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "server/http2/message_refusal.h"

namespace millrace::server {

// Bounds the large messages of a connection that have begun and not arrived, which gRPC keeps.
struct LargeMessages {
  // Smaller messages are bounded by the number of streams, and by the window of each.
  static constexpr uint32_t kLarge = 64 << 10;

  uint64_t max_message = 16 << 20;
  uint64_t max_bytes = 32 << 20;
  uint64_t bytes = 0;
};

// Reads the gRPC messages of one stream as they come: a compressed flag, the size in four bytes,
// and so many bytes. What must not reach gRPC is overwritten by a MessageRefusal when its size is
// known, and what follows on the stream by zeros. A compressed message that is too short for that
// goes on as one that is not compressed, which no service can read; a large one ends the
// connection.
class MessageGuard {
 public:
  // Reads the next bytes of the stream, and may overwrite them. Returns the number of messages that
  // began in them, or -1 if a message would have to be refused of which gRPC has a part already.
  int Read(std::span<char> bytes, LargeMessages& large);
  // Gives back what the stream has of `large`. Must be called when the stream ends.
  void End(LargeMessages& large);

 private:
  static constexpr size_t kPrefixBytes = 5;

  // Takes one byte of the prefix. Returns false if the message cannot be refused but must be.
  bool ReadPrefix(std::span<char> bytes, size_t at, LargeMessages& large);

  uint32_t left_ = 0;  // bytes of the message to come
  uint32_t size_ = 0;  // as read so far
  uint32_t held_ = 0;  // this stream's part of the large messages
  uint8_t prefix_filled_ = 0;
  uint8_t refusal_written_ = 0;
  bool compressed_ = false;
  bool refused_ = false;
  MessageRefusal refusal_;
};

}  // namespace millrace::server
