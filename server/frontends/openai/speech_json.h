#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "server/requests/speech_request.h"

namespace millrace::server {

// A request of OpenAI's POST /v1/audio/speech.
struct HttpSpeechRequest {
  SpeechRequest speech;
  bool sse = false;                  // as events with base64 instead of the audio itself
  std::string language_code;         // what lang_code asked for, where language is not given
  bool return_timing = false;        // asked for as another server has it
  std::vector<std::string> ignored;  // members without effect, as the client named them

  // The member by which the client named the language.
  std::string_view language_member() const {
    return language_code.empty() ? "language" : "lang_code";
  }
};

// Reads its JSON. InvalidArgument names the member, its value and what is allowed.
absl::StatusOr<HttpSpeechRequest> ParseSpeechJson(std::string_view body);

}  // namespace millrace::server
