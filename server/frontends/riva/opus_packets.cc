#include "server/frontends/riva/opus_packets.h"

#include <cstdint>

namespace millrace::server {
namespace {

// RFC 3533: the number of segments stands at the end of a page's header, and a byte for the length
// of each follows.
constexpr size_t kSegmentCount = 26;
constexpr size_t kHeaderBytes = kSegmentCount + 1;
// A packet ends with the first segment that is shorter.
constexpr size_t kLongestSegment = 255;

size_t ByteAt(std::string_view bytes, size_t place) {
  return static_cast<unsigned char>(bytes[place]);
}

void AppendLength(std::string& out, size_t length) {
  for (int shift = 0; shift < 32; shift += 8)
    out.push_back(static_cast<char>(static_cast<uint8_t>(length >> shift)));
}

// Returns the length of the page at the beginning, or 0 if it is not whole.
size_t PageBytes(std::string_view bytes) {
  if (bytes.size() < kHeaderBytes) return 0;
  size_t length = kHeaderBytes + ByteAt(bytes, kSegmentCount);
  if (bytes.size() < length) return 0;
  const size_t segments = ByteAt(bytes, kSegmentCount);
  for (size_t i = 0; i < segments; ++i) length += ByteAt(bytes, kHeaderBytes + i);
  return bytes.size() < length ? 0 : length;
}

}  // namespace

std::string OpusPackets::Push(std::string_view ogg) {
  std::string packets;
  pages_ += ogg;
  std::string_view rest = pages_;
  while (const size_t page_bytes = PageBytes(rest)) {
    const size_t segments = ByteAt(rest, kSegmentCount);
    size_t at = kHeaderBytes + segments;
    for (size_t i = 0; i < segments; ++i) {
      const size_t length = ByteAt(rest, kHeaderBytes + i);
      packet_ += rest.substr(at, length);
      at += length;
      if (length == kLongestSegment) continue;
      if (headers_left_ > 0) {
        --headers_left_;
      } else {
        AppendLength(packets, packet_.size());
        packets += packet_;
      }
      packet_.clear();
    }
    rest.remove_prefix(page_bytes);
  }
  pages_.erase(0, pages_.size() - rest.size());
  return packets;
}

}  // namespace millrace::server
