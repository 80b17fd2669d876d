#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace millrace::server {

// The header of an HTTP/2 frame (RFC 9113, section 4.1).
struct FrameHeader {
  static constexpr size_t kBytes = 9;

  uint32_t length = 0;
  uint8_t type = 0xff;
  uint8_t flags = 0;
  uint32_t stream = 0;
};

// Splits the bytes of one direction of a connection, which come in pieces of any size, into frames.
// Keeps no payload and allocates nothing. One thread at a time.
class FrameReader {
 public:
  // preface: the bytes before the first frame.
  explicit FrameReader(size_t preface) : payload_left_(preface) {}

  // Calls begin(header) when the header of a frame is complete, and payload(header, piece) with
  // pieces of what follows. Stops early if `begin` returns false.
  template <typename Byte, typename Begin, typename Payload>
  void Read(std::span<Byte> bytes, Begin begin, Payload payload) {
    while (!bytes.empty()) {
      if (payload_left_ != 0) {
        const size_t taken = std::min<size_t>(payload_left_, bytes.size());
        payload_left_ -= static_cast<uint32_t>(taken);
        payload(frame_, bytes.first(taken));
        bytes = bytes.subspan(taken);
        continue;
      }
      const size_t taken = std::min(FrameHeader::kBytes - filled_, bytes.size());
      std::memcpy(header_.data() + filled_, bytes.data(), taken);
      filled_ += taken;
      bytes = bytes.subspan(taken);
      if (filled_ != FrameHeader::kBytes) return;
      filled_ = 0;
      frame_ = {.length = Number(0, 3),
                .type = header_[3],
                .flags = header_[4],
                .stream = Number(5, 9) & 0x7fffffff};
      payload_left_ = frame_.length;
      if (!begin(frame_)) return;
    }
  }

  // Returns the header of the frame whose payload is being read.
  const FrameHeader& frame() const { return frame_; }

 private:
  uint32_t Number(size_t begin, size_t end) const {
    uint32_t number = 0;
    for (size_t i = begin; i < end; ++i) number = number << 8 | header_[i];
    return number;
  }

  uint32_t payload_left_;
  FrameHeader frame_;
  std::array<uint8_t, FrameHeader::kBytes> header_ = {};
  size_t filled_ = 0;
};

}  // namespace millrace::server
