#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace millrace::server {

// A client's message on ElevenLabs' stream-input and multi-stream-input.
struct StreamMessage {
  std::optional<std::string> text;
  std::string context_id;  // empty: none
  bool flush = false;
  bool close_context = false;
  bool close_socket = false;
  std::optional<float> speed;  // voice_settings' speed
  std::string api_key;         // from xi_api_key or from authorization; empty: none
};

// Reads a message from JSON. Members that are not known are ignored, and so are those that steer
// ElevenLabs' models or buffers. InvalidArgument names the member, its value and what is allowed.
absl::StatusOr<StreamMessage> ParseStreamMessage(std::string_view json);

}  // namespace millrace::server
