#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "server/requests/speech_request.h"

namespace millrace::server {

// A request of OpenAI's POST /v1/audio/speech.
struct HttpSpeechRequest {
  SpeechRequest speech;
  bool sse = false;  // as events with base64 instead of the audio itself
};

// What a client sent, quoted and cut for a message.
std::string Shown(std::string_view text);

// Reads its JSON. InvalidArgument names the member, its value and what is allowed.
absl::StatusOr<HttpSpeechRequest> ParseSpeechJson(std::string_view body);

}  // namespace millrace::server
