#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace millrace::testing {

enum WebSocketOpcode : uint8_t {
  kContinuation = 0,
  kText = 1,
  kBinary = 2,
  kClose = 8,
  kPing = 9,
  kPong = 10
};

struct ClientFrameOptions {
  bool last = true;    // the last frame of its message
  bool masked = true;  // as clients must
  uint8_t reserved = 0;
  std::optional<uint64_t> announced = std::nullopt;  // another length than that of the payload
};

// Returns a frame as a client writes it, with the shortest form of its length.
inline std::string ClientFrame(uint8_t opcode, std::string_view payload,
                               const ClientFrameOptions& options = {}) {
  const uint64_t length = options.announced.value_or(payload.size());
  std::string frame;
  frame += static_cast<char>((options.last ? 0x80 : 0) | (options.reserved << 4) | opcode);
  const uint8_t mask_bit = options.masked ? 0x80 : 0;
  int length_bytes = 0;
  if (length < 126) {
    frame += static_cast<char>(mask_bit | length);
  } else if (length < 65'536) {
    frame += static_cast<char>(mask_bit | 126);
    length_bytes = 2;
  } else {
    frame += static_cast<char>(mask_bit | 127);
    length_bytes = 8;
  }
  for (int i = length_bytes - 1; i >= 0; --i) frame += static_cast<char>(length >> (8 * i));
  constexpr char kMask[] = {0x12, 0x34, 0x56, 0x78};
  if (options.masked) frame.append(kMask, sizeof(kMask));
  for (size_t i = 0; i < payload.size(); ++i)
    frame += static_cast<char>(payload[i] ^ (options.masked ? kMask[i % 4] : 0));
  return frame;
}

struct ServerFrame {
  uint8_t opcode = 0;
  std::string payload;

  // Returns the code of a close; 0: it has none.
  int code() const {
    if (payload.size() < 2) return 0;
    return static_cast<uint8_t>(payload[0]) * 256 + static_cast<uint8_t>(payload[1]);
  }
};

// Takes the next frame of the server from the bytes; nothing: it is not complete.
inline std::optional<ServerFrame> TakeServerFrame(std::string& bytes) {
  const auto byte = [&](size_t at) {
    return static_cast<uint64_t>(static_cast<uint8_t>(bytes[at]));
  };
  if (bytes.size() < 2) return std::nullopt;
  uint64_t length = byte(1);
  size_t head = 2;
  if (length >= 126) {
    const size_t length_bytes = length == 126 ? 2 : 8;
    if (bytes.size() < 2 + length_bytes) return std::nullopt;
    length = 0;
    for (; head < 2 + length_bytes; ++head) length = length << 8 | byte(head);
  }
  if (bytes.size() < head + length) return std::nullopt;
  ServerFrame frame{static_cast<uint8_t>(byte(0) & 0x0F), bytes.substr(head, length)};
  bytes.erase(0, head + length);
  return frame;
}

}  // namespace millrace::testing
