#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "nlohmann/json_fwd.hpp"
#include "server/requests/speech_request.h"

namespace millrace::server {

// The body of ElevenLabs' POST /v1/text-to-speech/{voice}.
struct SpeechBody {
  SpeechRequest speech;  // without model and voice
  std::string model_id;
  bool ssml = false;                 // the text is SSML
  std::string text_format;           // a name that says what the text is; empty: as ssml says
  std::vector<std::string> ignored;  // members without effect, as the client named them
};

// Reads voice_settings, of which the speed alone has an effect.
absl::Status TakeVoiceSettings(const nlohmann::json& value, std::optional<float>& speed,
                               std::vector<std::string>& ignored);
// Refuses pronunciation_dictionary_locators other than an empty list.
absl::Status CheckDictionaries(const nlohmann::json& value);

// Reads it from JSON. InvalidArgument names the member, its value and what is allowed.
absl::StatusOr<SpeechBody> ParseSpeechBody(std::string_view body);

}  // namespace millrace::server
