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
  kWindowUpdateFrame = 8,
  kContinuationFrame = 9,
  kUnknownFrame = 0xfa,
};
constexpr uint8_t kEndStreamFlag = 1;
constexpr uint8_t kAckFlag = 1;
constexpr uint8_t kPaddedFlag = 8;
constexpr uint8_t kEndHeadersFlag = 4;

inline std::string MakeFrameHeader(FrameType type, uint8_t flags, uint32_t stream,
                                   uint32_t length) {
  const auto byte = [](uint32_t number, int shift) { return static_cast<char>(number >> shift); };
  return {byte(length, 16),        byte(length, 8),          byte(length, 0),
          static_cast<char>(type), static_cast<char>(flags), byte(stream, 24),
          byte(stream, 16),        byte(stream, 8),          byte(stream, 0)};
}

inline std::string Frame(FrameType type, uint8_t flags, uint32_t stream, size_t length) {
  return MakeFrameHeader(type, flags, stream, static_cast<uint32_t>(length)) +
         std::string(length, '\xff');
}

}  // namespace millrace::server
