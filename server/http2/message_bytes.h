#pragma once

#include <cstdint>
#include <memory>

#include "server/http2/frame_totals.h"

namespace millrace::server {

// Bounds the memory that the open calls of a connection take with their messages. A connection has
// bytes of its own, takes more from those that all connections share, and its address has a fair
// share of what all may have. One thread at a time.
class MessageBytes {
 public:
  // The shared bytes that a connection may take. Calls and their first messages, if those are
  // short, have a part of them for themselves: honest clients make a thousand at once. Short
  // messages that follow on a stream have few, since most methods never read them.
  enum class Shared : uint8_t { kAll, kNotOfCalls, kFew };

  // A connection's own bytes take a message of the largest size, and the shared ones two beside
  // those that calls and their first messages have alone.
  static constexpr uint64_t kLeastMessage = 16 << 20;
  static constexpr uint64_t kBesideMessage = 1 << 20;
  static constexpr uint64_t kSharedOfCalls = 18 << 20;
  static constexpr uint64_t kFewShared = 4 << 20;
  static constexpr uint64_t kMessagesOfAll = 32;  // messages of the largest size
  // Charges may exceed the limits by so much, because they cannot be refused.
  static constexpr uint64_t kSlack = 4 << 20;
  // Bytes are taken from the totals in steps, so that small messages cost little. A connection has
  // the first step whatever others have.
  static constexpr uint64_t kStep = 128 << 10;

  // totals: must outlive this object.
  MessageBytes(uint64_t max_message, FrameTotals& totals, std::shared_ptr<ClientTotals> address);

  uint64_t max_message() const { return max_message_; }
  uint64_t bytes() const { return bytes_; }
  // Returns false, and takes nothing, if there is no room for so many bytes.
  bool Take(uint64_t bytes, Shared shared) {
    if (bytes_ + bytes > reserved_ && !Reserve(bytes_ + bytes, shared)) return false;
    bytes_ += bytes;
    return true;
  }
  // Takes bytes that have come already. Returns false if they are too many.
  bool Charge(uint64_t bytes, Shared shared) {
    bytes_ += bytes;
    return bytes_ <= reserved_ || Reserve(bytes_, shared) || bytes_ <= reserved_ + kSlack;
  }
  void GiveBack(uint64_t bytes) {
    bytes_ -= bytes;
    if (reserved_ > bytes_ + 2 * kStep) Shrink();
  }
  // Gives back what is others', and takes only the connection's own bytes afterwards.
  void Leave();

 private:
  uint64_t BeyondOwn(uint64_t bytes) const { return bytes > own_ ? bytes - own_ : 0; }
  uint64_t Most(Shared shared) const;
  // Reserves at least so many bytes, which are more than before.
  bool Reserve(uint64_t bytes, Shared shared);
  void Shrink();

  const uint64_t max_message_;
  const uint64_t own_;
  const uint64_t max_shared_;
  const uint64_t max_all_;
  FrameTotals* const totals_;
  const std::shared_ptr<ClientTotals> address_;
  uint64_t bytes_ = 0;
  uint64_t reserved_ = 0;
  bool left_ = false;
};

}  // namespace millrace::server
