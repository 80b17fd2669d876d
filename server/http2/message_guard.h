#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "server/http2/message_bytes.h"
#include "server/http2/message_refusal.h"

namespace millrace::server {

// Reads the gRPC messages of one stream as they come: a compressed flag, the size in four bytes,
// and so many bytes. What must not reach gRPC is overwritten by a MessageRefusal when its size is
// known, and what follows on the stream by zeros. A compressed message that is too short for that
// goes on as one that is not compressed, which no service can read; a large one ends the
// connection.
//
// A message counts from the moment that its size is known until the server is seen to have read it,
// or the call ends: gRPC keeps also those that no one reads.
class MessageGuard {
 public:
  // gRPC keeps so much beside each piece of a message.
  static constexpr uint64_t kPieceBytes = 128;

  // Reads the next bytes of the stream, and may overwrite them. Returns the number of messages that
  // began in them, or -1 if there is no room for what gRPC has already, or if a message would have
  // to be refused of which it has a part.
  int Read(std::span<char> bytes, MessageBytes& kept);
  // Gives back so many bytes of messages that have come whole.
  void OnRead(uint64_t bytes, MessageBytes& kept);
  // Gives back what the stream has. Must be called when the stream ends.
  void End(MessageBytes& kept);

 private:
  static constexpr size_t kPrefixBytes = 5;
  // A message that cannot be refused ends the connection from this size on.
  static constexpr uint32_t kLarge = 64 << 10;

  // Takes one byte of the prefix. Returns false if the message cannot be refused but must be.
  bool ReadPrefix(std::span<char> bytes, size_t at, MessageBytes& kept);
  bool Charge(uint64_t bytes, MessageBytes& kept);
  // Returns the shared bytes that the current message may take.
  MessageBytes::Shared shared() const;
  void Finish();  // the message

  uint32_t left_ = 0;     // bytes of the message to come
  uint32_t size_ = 0;     // as read so far
  uint64_t held_ = 0;     // this stream's part of `kept`
  uint64_t current_ = 0;  // the part of the message that has not come whole
  uint8_t prefix_filled_ = 0;
  uint8_t refusal_written_ = 0;
  bool is_first_ = true;
  bool compressed_ = false;
  bool refused_ = false;
  MessageRefusal refusal_;
};

}  // namespace millrace::server
