#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "server/frontends/openai/speech_framing.h"
#include "server/requests/speech_request.h"

namespace millrace::server {

// The API to which a request for speech belongs.
enum class SpeechRoute : uint8_t {
  kOpenAi,     // OpenAI's POST /v1/audio/speech
  kCaptioned,  // Kokoro-FastAPI's POST /dev/captioned_speech
};

struct HttpSpeechRequest {
  SpeechRequest speech;
  SpeechFraming framing = SpeechFraming::kAudio;
  std::string language_code;   // the value of lang_code, where language is not given
  bool return_timing = false;  // set by another server's member, as are the following
  bool stream = true;
  bool return_timestamps = true;
  std::vector<std::string> ignored;  // members without effect, as the client named them

  // Returns the member by which the client named the language.
  std::string_view language_member() const {
    return language_code.empty() ? "language" : "lang_code";
  }
};

// Reads a request from JSON. InvalidArgument names the member, its value and what is allowed.
absl::StatusOr<HttpSpeechRequest> ParseSpeechJson(std::string_view body,
                                                  SpeechRoute route = SpeechRoute::kOpenAi);

}  // namespace millrace::server
