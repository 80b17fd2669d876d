#include "server/frontends/elevenlabs/speech_body.h"

#include <limits>

#include "models/core/errors.h"
#include "nlohmann/json.hpp"
#include "server/http/json_body.h"
#include "server/json/ignored_members.h"
#include "server/json/json_member.h"

namespace millrace::server {
namespace {

using nlohmann::json;

absl::Status TakeBodyMember(const std::string& name, const json& value, SpeechBody& body) {
  if (name == "text") return TakeString(value, name, body.speech.text);
  if (name == "model_id") return TakeString(value, name, body.model_id);
  if (name == "language_code") return TakeString(value, name, body.speech.language);
  if (name == "voice_settings") return TakeVoiceSettings(value, body.speech.speed, body.ignored);
  if (name == "seed")
    return TakeInteger(value, name, std::numeric_limits<uint64_t>::max(), body.speech.seed);
  if (name == "enable_ssml_parsing") return TakeBool(value, name, body.ssml);
  if (name == "text_format") return TakeString(value, name, body.text_format);
  if (name == "pronunciation_dictionary_locators") return CheckDictionaries(value);
  AddIgnored(name, body.ignored);
  return absl::OkStatus();
}

}  // namespace

absl::Status TakeVoiceSettings(const json& value, std::optional<float>& speed,
                               std::vector<std::string>& ignored) {
  if (!value.is_object()) return WrongType("voice_settings", "an object", value);
  AddIgnored(value, {"speed"}, "voice_settings.", ignored);
  const auto found = value.find("speed");
  if (found == value.end() || found->is_null()) return absl::OkStatus();
  // The model checks the range.
  return TakeFloat(*found, "voice_settings.speed", "0.25..4", speed.emplace());
}

absl::Status CheckDictionaries(const json& value) {
  if (value.is_array() && value.empty()) return absl::OkStatus();
  return InvalidArgument("pronunciation_dictionary_locators: dictionaries are not available");
}

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
