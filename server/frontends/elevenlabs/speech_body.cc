#include "server/frontends/elevenlabs/speech_body.h"

#include <limits>

#include "models/core/errors.h"
#include "models/core/strings.h"
#include "nlohmann/json.hpp"
#include "server/http/json_body.h"
#include "server/json/json_member.h"

namespace millrace::server {
namespace {

using nlohmann::json;

absl::Status TakeBodyVoiceSettings(const json& value, SpeechBody& body) {
  if (!value.is_object()) return WrongType("voice_settings", "an object", value);
  for (const auto& [name, setting] : value.items()) {
    if (setting.is_null()) continue;
    if (name != "speed") {
      body.ignored.push_back(StrCat("voice_settings.", name));
      continue;
    }
    // The model checks the range.
    MILLRACE_RETURN_IF_ERROR(
        TakeFloat(setting, "voice_settings.speed", "0.25..4", body.speech.speed.emplace()));
  }
  return absl::OkStatus();
}

absl::Status TakeBodyMember(const std::string& name, const json& value, SpeechBody& body) {
  if (name == "text") return TakeString(value, name, body.speech.text);
  if (name == "model_id") return TakeString(value, name, body.model_id);
  if (name == "language_code") return TakeString(value, name, body.speech.language);
  if (name == "voice_settings") return TakeBodyVoiceSettings(value, body);
  if (name == "seed")
    return TakeInteger(value, name, std::numeric_limits<uint64_t>::max(), body.speech.seed);
  if (name == "enable_ssml_parsing") return TakeBool(value, name, body.ssml);
  if (name == "text_format") return TakeString(value, name, body.text_format);
  if (name == "pronunciation_dictionary_locators" && !(value.is_array() && value.empty())) {
    return InvalidArgument("pronunciation_dictionary_locators: dictionaries are not available");
  }
  body.ignored.push_back(name);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<SpeechBody> ParseSpeechBody(std::string_view text) {
  MILLRACE_ASSIGN_OR_RETURN(const json members, ParseJsonObject(text));
  SpeechBody body;
  for (const auto& [name, value] : members.items()) {
    if (value.is_null()) continue;  // treated as absent
    MILLRACE_RETURN_IF_ERROR(TakeBodyMember(name, value, body));
  }
  const auto found = members.find("text");
  if (found == members.end() || found->is_null()) return InvalidArgument("text: is missing");
  return body;
}

}  // namespace millrace::server
