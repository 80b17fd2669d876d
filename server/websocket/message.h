#pragma once

#include <cstdint>
#include <string>

namespace millrace {

// A whole message of a WebSocket. Text is valid UTF-8.
struct WebSocketMessage {
  std::string data;
  bool binary = false;
};

// The reason for which an end closes a WebSocket (RFC 6455, section 7.4.1).
enum class WebSocketClose : uint16_t {
  kNormal = 1000,
  kGoingAway = 1001,
  kProtocolError = 1002,
  kPolicyViolation = 1008,
  kTooBig = 1009,
  kInternalError = 1011,
};

}  // namespace millrace
