#include "server/frontends/wyoming/synthesize_data.h"

#include <memory>
#include <string_view>
#include <vector>

#include "absl/strings/match.h"
#include "models/core/errors.h"
#include "models/core/language_tag.h"
#include "models/core/shown.h"
#include "models/core/speech_choice.h"
#include "models/core/strings.h"
#include "models/text/unicode.h"
#include "nlohmann/json.hpp"
#include "server/frontends/wyoming/voice_list.h"
#include "server/json/ignored_members.h"
#include "server/json/json_member.h"
#include "server/requests/spoken_language.h"
#include "server/requests/text_field.h"

namespace millrace::server {
namespace {

using nlohmann::json;

// The voice that an event names; what is empty was not given.
struct WantedVoice {
  std::string name;
  std::string speaker;
  std::string language;
};

// Takes a string of an object; null is as if it were not there.
absl::Status TakeOptional(const json& object, const char* member, std::string_view name,
                          std::string& out) {
  const auto found = object.find(member);
  if (found == object.end() || found->is_null()) return absl::OkStatus();
  return TakeString(*found, name, out);
}

absl::StatusOr<WantedVoice> ParseVoice(const json& data, std::vector<std::string>& ignored) {
  WantedVoice wanted;
  const auto voice = data.find("voice");
  if (voice == data.end() || voice->is_null()) return wanted;
  if (!voice->is_object()) return WrongType("voice", "a JSON object", *voice);
  absl::Status status = TakeOptional(*voice, "name", "voice.name", wanted.name);
  status.Update(TakeOptional(*voice, "speaker", "voice.speaker", wanted.speaker));
  status.Update(TakeOptional(*voice, "language", "voice.language", wanted.language));
  if (!status.ok()) return status;
  AddIgnored(*voice, {"name", "speaker", "language"}, "voice.", ignored);
  if (wanted.name.empty() && !wanted.speaker.empty())
    return InvalidArgument("voice.speaker: needs voice.name, which is missing");
  return wanted;
}

absl::Status UnknownVoice(const WantedVoice& wanted,
                          const std::vector<const models::ModelInfo*>& voices) {
  std::string allowed;
  for (const models::ModelInfo* model : voices) {
    for (const std::string& voice : model->speech().voices)
      allowed += StrCat(allowed.empty() ? "" : ", ", VoiceName(*model, voice));
  }
  return InvalidArgument("voice.name: ", Shown(wanted.name),
                         " is not available; these are: ", allowed);
}

// Sets the model and the voice of the request.
absl::Status ChooseVoice(const WantedVoice& wanted,
                         const std::vector<const models::ModelInfo*>& voices, std::string_view text,
                         SpeechRequest& request) {
  if (wanted.name.empty()) {
    request.language = wanted.language.empty()
                           ? OtherSpokenLanguage(text, request.text_format, voices)
                           : wanted.language;
    const std::string_view language =
        request.language.empty() ? kUsualLanguage : std::string_view(request.language);
    const models::ModelInfo& best = *models::ChooseSpeechModel(voices, language, "");
    // Where it does not speak the language, none does: no model is named, so that all are told.
    if (!models::LookUpLanguage(best.speech().languages, language).empty() ||
        wanted.language.empty())
      request.model = best.name;
    return absl::OkStatus();
  }
  const size_t slash = wanted.name.find('/');
  const std::string model = wanted.name.substr(0, slash);
  const models::ModelInfo* chosen = nullptr;
  for (const models::ModelInfo* info : voices) {
    if (info->name == model) {
      chosen = info;
      break;
    }
    // The case of its letters does not matter, as with voices, unless it tells models apart.
    if (chosen == nullptr && absl::EqualsIgnoreCase(info->name, model)) chosen = info;
  }
  const bool names_voice = chosen == nullptr || slash != std::string::npos;
  if (chosen == nullptr) {
    request.voice = wanted.name;
    chosen = models::ChooseSpeechModel(voices, "", request.voice);
  } else {
    request.voice = names_voice ? wanted.name.substr(slash + 1) : wanted.speaker;
  }
  const models::SpeechInfo& speech = chosen->speech();
  if (!models::HasVoice(speech, request.voice)) {
    if (names_voice) return UnknownVoice(wanted, voices);
    return InvalidArgument("voice.speaker: ", Shown(wanted.speaker), " is no voice of the model '",
                           chosen->name, "'");
  }
  if (names_voice && !wanted.speaker.empty() &&
      !absl::EqualsIgnoreCase(wanted.speaker, request.voice)) {
    return InvalidArgument("voice.speaker: ", Shown(wanted.speaker), " is not allowed; the voice ",
                           Shown(wanted.name), " has no other speakers");
  }
  request.model = chosen->name;
  request.language = models::LanguageOfVoice(speech, request.voice);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<SpeechRequest> ParseSpeechOptions(const json& data, const ModelDirectory& models,
                                                 std::string_view text,
                                                 std::vector<std::string>& ignored) {
  AddIgnored(data, {"text", "text_format", "voice"}, "", ignored);
  std::string format;
  MILLRACE_RETURN_IF_ERROR(TakeOptional(data, "text_format", "text_format", format));
  MILLRACE_ASSIGN_OR_RETURN(const auto text_format,
                            ParseSpeechTextFormat("text_format", format.empty() ? "text" : format));
  MILLRACE_ASSIGN_OR_RETURN(const WantedVoice wanted, ParseVoice(data, ignored));
  const std::vector<std::shared_ptr<ServedModel>> all = models.All();
  std::vector<const models::ModelInfo*> voices;
  for (const auto& model : all) {
    if (model->info().task() == models::Task::kSynthesis) voices.push_back(&model->info());
  }
  if (voices.empty()) return NotFound("no speech model is loaded");
  SpeechRequest request;
  request.format = models::AudioFormat::kPcmS16;
  request.text_format = text_format;
  MILLRACE_RETURN_IF_ERROR(ChooseVoice(wanted, voices, text, request));
  return request;
}

absl::StatusOr<std::string> ParseEventText(const json& data) {
  const auto text = data.find("text");
  if (text == data.end()) return InvalidArgument("text: is missing");
  std::string out;
  absl::Status status = TakeString(*text, "text", out);
  if (status.ok()) status = CheckTotal("text", models::CountCodePoints(out), kMaxStreamCharacters);
  if (!status.ok()) return status;
  return out;
}

}  // namespace millrace::server
