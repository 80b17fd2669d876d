#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "server/http2/message_refusal.h"

namespace millrace::server {

// Bounds the large messages of a connection that have begun and not arrived, which gRPC keeps. They
// take what is beyond the connection's own bytes from those that all connections share.
class LargeMessages {
 public:
  // Smaller messages are bounded by the number of streams, and by the window of each.
  static constexpr uint32_t kLarge = 64 << 10;
  // Clients send some messages at once, and few clients do that at the same time. Two connections
  // that never end theirs take 80 MiB where a message may have 16 MiB.
  static constexpr uint64_t kOwn = 32 << 20;
  static constexpr uint64_t kShared = 16 << 20;

  // shared: the bytes in use of those that all connections share; it must outlive this object.
  LargeMessages(uint64_t max_message, std::atomic<uint64_t>& shared)
      : max_message_(max_message), shared_(&shared) {}

  uint64_t max_message() const { return max_message_; }
  uint64_t bytes() const { return bytes_; }
  // Returns false, and takes nothing, if there is no room for so many bytes.
  bool Take(uint64_t bytes);
  void GiveBack(uint64_t bytes);
  // Gives back the shared bytes, and takes none afterwards.
  void Leave();

 private:
  // Returns how many of so many bytes are shared ones.
  uint64_t Shared(uint64_t bytes) const;

  uint64_t max_message_;
  std::atomic<uint64_t>* shared_;  // null after Leave
  uint64_t bytes_ = 0;
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
