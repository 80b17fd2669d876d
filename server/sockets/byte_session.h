#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "mps_runtime/base/clock.h"

namespace millrace {

// A protocol on one connection, without its socket: it consumes and produces bytes. One thread.
// What it throws, for want of memory, costs the connection.
class ByteSession {
 public:
  // The most events of a protocol that one call of Advance handles.
  static constexpr int kEventsOfShare = 16;

  virtual ~ByteSession() = default;

  // Adds bytes that the client sent. Must be called only while wants_bytes().
  virtual void Receive(std::string_view bytes) = 0;
  // Returns false while the client is not read: enough waits, for the session or for the client.
  virtual bool wants_bytes() const = 0;
  // Makes progress, by a bounded share, so that others have their turn. Must be called after bytes
  // were read or written, when the session has changed, and when it is due.
  virtual void Advance() = 0;
  // Returns true if Advance must be called again in the next turn, because what the client sent is
  // more than a share. It is not read until then.
  virtual bool has_more() const { return false; }

  // Returns the bytes to send to the client; Sent removes those that were sent.
  virtual std::string_view unsent() const = 0;
  virtual void Sent(size_t bytes) = 0;
  // Returns true if the connection is to be closed.
  virtual bool over() const = 0;
  // Returns when Advance must be called even though nothing happens until then.
  virtual TimePoint due() const = 0;

  // Returns since when nothing was in progress, if the connection may be closed for another one.
  virtual std::optional<TimePoint> IdleSince(TimePoint) const { return std::nullopt; }
  // Closes because the server stops: once it is idle, or now.
  virtual void Drain() {}
  virtual void GoAway() {}
};

}  // namespace millrace
