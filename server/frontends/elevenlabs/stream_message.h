#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace millrace::server {

// A client's message on ElevenLabs' stream-input and multi-stream-input.
struct StreamMessage {
  std::optional<std::string> text;
  std::string context_id;  // empty: none
  bool flush = false;
  bool close_context = false;
  bool close_socket = false;
  std::optional<float> speed;        // voice_settings' speed
  std::string api_key;               // from xi_api_key or from authorization; empty: none
  std::vector<std::string> ignored;  // members that have no effect
};

// Reads a message from JSON, where members that steer ElevenLabs' models or buffers have no effect.
// InvalidArgument names the member, its value and what is allowed.
absl::StatusOr<StreamMessage> ParseStreamMessage(std::string_view json);

}  // namespace millrace::server
