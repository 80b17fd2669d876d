#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "server/frontends/wyoming/event.h"

namespace millrace::server {

// Reads events from bytes as they come, in parts of any size. Payloads are thrown away as they
// come, since no event that this server answers has one. For one thread.
class EventReader {
 public:
  struct Limits {
    size_t line_bytes = size_t{64} << 10;  // as in the protocol's own library
    size_t data_bytes = size_t{1} << 20;
    size_t payload_bytes = size_t{1} << 20;
  };

  EventReader() : EventReader(Limits()) {}
  explicit EventReader(Limits limits) : limits_(limits) {}

  void Push(std::string_view bytes);
  // Returns the next event whose bytes have all come, or nothing. InvalidArgument says what is
  // wrong with it; nothing can be read after that.
  absl::StatusOr<std::optional<WyomingEvent>> Next();
  // Returns true if a part of an event, but not all of it, has come.
  bool has_part() const { return event_.has_value() || !unread().empty(); }
  // Returns how many bytes it holds.
  size_t held_bytes() const { return buffer_.size(); }

 private:
  std::string_view unread() const { return std::string_view{buffer_}.substr(next_); }
  void Skip(size_t bytes);
  // Takes the line that ends at `end`.
  absl::Status TakeLine(size_t end);
  absl::Status TakeData();

  const Limits limits_;
  std::string buffer_;  // read up to next_
  size_t next_ = 0;
  size_t searched_ = 0;  // so much of what is unread has no end of a line
  // These are set once the event's line has arrived.
  std::optional<WyomingEvent> event_;
  size_t data_left_ = 0;
  size_t payload_left_ = 0;
};

}  // namespace millrace::server
