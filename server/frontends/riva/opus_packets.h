#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace millrace::server {

// Turns Opus in Ogg (RFC 7845) into the form that Riva's clients read: each packet of sound after
// its length, as a signed 32-bit little-endian number, without Ogg's pages and headers. One thread
// at a time.
class OpusPackets {
 public:
  // Takes the next bytes of the stream, which may be cut anywhere. Returns the packets that are
  // complete with them.
  std::string Push(std::string_view ogg);

 private:
  std::string pages_;        // the part that is not a whole page yet
  std::string packet_;       // the beginning of a packet that goes on in the next page
  size_t headers_left_ = 2;  // a stream begins with the packets OpusHead and OpusTags
};

}  // namespace millrace::server
