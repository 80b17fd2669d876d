#pragma once

#include <cstdint>
#include <string>

namespace millrace::server {

// HTTP/2 as a client sends it.
inline const std::string kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

enum FrameType : uint8_t {
  kDataFrame = 0,
  kHeadersFrame = 1,
  kPriorityFrame = 2,
  kRstStreamFrame = 3,
  kSettingsFrame = 4,
  kPingFrame = 6,
  kGoawayFrame = 7,
  kWindowUpdateFrame = 8,
  kContinuationFrame = 9,
  kUnknownFrame = 0xfa,
};
constexpr uint8_t kEndStreamFlag = 1;
constexpr uint8_t kAckFlag = 1;
constexpr uint8_t kPaddedFlag = 8;
constexpr uint8_t kEndHeadersFlag = 4;
constexpr uint8_t kPriorityFlag = 0x20;

inline std::string MakeFrameHeader(FrameType type, uint8_t flags, uint32_t stream,
                                   uint32_t length) {
  const auto byte = [](uint32_t number, int shift) { return static_cast<char>(number >> shift); };
  return {byte(length, 16),        byte(length, 8),          byte(length, 0),
          static_cast<char>(type), static_cast<char>(flags), byte(stream, 24),
          byte(stream, 16),        byte(stream, 8),          byte(stream, 0)};
}

// Returns a header block of so many bytes, at most 16 KiB: literals as long as they can be.
inline std::string HeaderBlock(size_t length) {
  // The first byte, an empty name, and the value's length in one byte or in three.
  if (length < 3) return std::string(length, '\x82');
  const std::string start("\x10\0", 2);
  if (length < 3 + 127) return start + static_cast<char>(length - 3) + std::string(length - 3, 'v');
  if (length < 5 + 127) return "\x82\x82" + HeaderBlock(length - 2);
  const size_t above = length - 5 - 127;
  return start + '\x7f' + static_cast<char>((above & 0x7f) | 0x80) + static_cast<char>(above >> 7) +
         std::string(length - 5, 'v');
}

inline std::string Frame(FrameType type, uint8_t flags, uint32_t stream, size_t length) {
  const bool is_block = type == kHeadersFrame || type == kContinuationFrame;
  return MakeFrameHeader(type, flags, stream, static_cast<uint32_t>(length)) +
         (is_block ? HeaderBlock(length) : std::string(length, '\xff'));
}

inline std::string HeadersFrame(uint32_t stream, const std::string& block) {
  return MakeFrameHeader(kHeadersFrame, kEndHeadersFlag, stream,
                         static_cast<uint32_t>(block.size())) +
         block;
}

}  // namespace millrace::server
