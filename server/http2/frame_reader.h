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
  // pieces of what follows. Stops early if one of them returns false.
  template <typename Byte, typename Begin, typename Payload>
  void Read(std::span<Byte> bytes, Begin begin, Payload payload) {
    const size_t size = bytes.size();
    frame_start_ = 0;
    while (!bytes.empty()) {
      if (payload_left_ != 0) {
        const size_t taken = std::min<size_t>(payload_left_, bytes.size());
        payload_left_ -= static_cast<uint32_t>(taken);
        if (!payload(frame_, bytes.first(taken))) return;
        bytes = bytes.subspan(taken);
        continue;
      }
      if (filled_ == 0) frame_start_ = size - bytes.size();
      const auto* header = reinterpret_cast<const uint8_t*>(bytes.data());
      size_t taken = FrameHeader::kBytes;
      if (filled_ != 0 || bytes.size() < FrameHeader::kBytes) {
        taken = std::min(FrameHeader::kBytes - filled_, bytes.size());
        std::memcpy(header_.data() + filled_, bytes.data(), taken);
        filled_ += taken;
        if (filled_ != FrameHeader::kBytes) return;
        filled_ = 0;
        header = header_.data();
      }
      bytes = bytes.subspan(taken);
      frame_ = {.length = Number(header, 3),
                .type = header[3],
                .flags = header[4],
                .stream = Number(header + 5, 4) & 0x7fffffff};
      payload_left_ = frame_.length;
      if (!begin(frame_)) return;
    }
  }

  // Returns the header of the frame whose payload is being read.
  const FrameHeader& frame() const { return frame_; }
  // Returns where in the bytes of the last Read the last frame begins; 0 if it began before them.
  size_t frame_start() const { return frame_start_; }
  // Returns the part of the next frame's header that was read.
  std::span<const uint8_t> begun_header() const { return std::span(header_).first(filled_); }
  // Returns the number of bytes of the current frame's payload that were not read.
  uint32_t payload_left() const { return payload_left_; }

 private:
  static uint32_t Number(const uint8_t* bytes, size_t count) {
    uint32_t number = 0;
    for (size_t i = 0; i < count; ++i) number = number << 8 | bytes[i];
    return number;
  }

  uint32_t payload_left_;
  FrameHeader frame_;
  std::array<uint8_t, FrameHeader::kBytes> header_ = {};  // one that came in pieces
  size_t filled_ = 0;
  size_t frame_start_ = 0;
};

}  // namespace millrace::server
