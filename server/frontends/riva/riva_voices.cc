#include "server/frontends/riva/riva_voices.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "models/core/errors.h"
#include "models/core/shown.h"
#include "models/core/speech_choice.h"
#include "models/core/strings.h"
#include "server/requests/spoken_language.h"

namespace millrace::server {
namespace {

using Infos = std::vector<const models::ModelInfo*>;
using Models = std::vector<std::shared_ptr<ServedModel>>;

// The beginnings of the names of NVIDIA's voices. Pipecat and LiveKit send one of the first unless
// they are told of another; the others are those of Riva's own scripts, such as
// English-US.Female-1, with the language that they speak.
constexpr std::pair<std::string_view, std::string_view> kNvidiaVoices[] = {
    {"Magpie-Multilingual.", ""}, {"English-US", "en-US"},    {"English-GB", "en-GB"},
    {"Spanish-US", "es-US"},      {"Spanish-ES", "es-ES"},    {"Spanish-LA", "es-419"},
    {"German-DE", "de-DE"},       {"French-FR", "fr-FR"},     {"Italian-IT", "it-IT"},
    {"Mandarin-CN", "zh-CN"},     {"Portuguese-BR", "pt-BR"}, {"Japanese-JP", "ja-JP"},
    {"Hindi-IN", "hi-IN"}};

// Returns the entry for one of NVIDIA's voices, null for other names. Behind the language is the
// voice, perhaps with the network's name before it: English-US-RadTTS.Female-1.
const std::pair<std::string_view, std::string_view>* FindNvidiaVoice(std::string_view name) {
  const auto* const found = std::ranges::find_if(kNvidiaVoices, [name](const auto& voice) {
    if (!absl::StartsWithIgnoreCase(View(name), View(voice.first))) return false;
    const std::string_view rest = name.substr(voice.first.size());
    return voice.second.empty() || rest.starts_with('.') ||
           (rest.starts_with('-') && rest.find('.') != rest.npos);
  });
  return found == std::end(kNvidiaVoices) ? nullptr : found;
}

Models SpeechModels(const ModelDirectory& directory) {
  Models models = directory.All();
  std::erase_if(models,
                [](const auto& model) { return model->info().task() != models::Task::kSynthesis; });
  return models;
}

std::string FullName(const models::ModelInfo& model, std::string_view voice) {
  return StrCat(model.name, ".", voice);
}

// The part of a request that a voice's name decides.
struct Choice {
  const models::ModelInfo* model = nullptr;  // null: there is no such voice
  std::string voice = {};                    // empty: the model's for the language
};

Choice FindVoice(const Infos& infos, std::string_view name, std::string_view language) {
  for (const models::ModelInfo* info : infos) {
    if (name == info->name) return {info};
    if (!name.starts_with(FullName(*info, ""))) continue;
    const std::string_view voice = name.substr(info->name.size() + 1);
    if (!voice.empty() && models::HasVoice(info->speech(), voice))
      return {info, std::string(voice)};
  }
  const models::ModelInfo* best = models::ChooseSpeechModel(infos, language, name);
  if (!models::HasVoice(best->speech(), name)) return {};
  return {best, std::string(name)};
}

Choice FindAlias(const Infos& infos, const VoiceAliases& aliases, const std::string& name,
                 std::string_view language) {
  if (!aliases) return {};
  const auto alias = aliases->find(name);
  if (alias != aliases->end())
    return alias->second.empty() ? Choice() : FindVoice(infos, alias->second, language);
  if (FindNvidiaVoice(name) != nullptr) return {models::ChooseSpeechModel(infos, language, "")};
  if (IsVoiceAlias(aliases, name)) return {models::ChooseSpeechModel(infos, language, ""), name};
  return {};
}

absl::Status UnknownVoice(std::string_view name, const Infos& infos) {
  std::string known;
  for (const models::ModelInfo* info : infos) {
    for (const std::string& voice : info->speech().voices)
      known += StrCat(known.empty() ? "" : ", ", FullName(*info, voice));
  }
  return InvalidArgument("voice_name: ", Shown(name), " is not available; these are: ", known);
}

// Returns the language that a client is to be offered the voice for.
std::string OfferedLanguage(const models::SpeechInfo& info, std::string_view voice) {
  std::string own = models::LanguageOfVoice(info, voice);
  return own.empty() ? info.language : own;
}

}  // namespace

absl::Status ChooseRivaVoice(const std::string& name, const Services& services,
                             SpeechRequest& request) {
  const Models models = SpeechModels(services.models);
  if (models.empty()) return NotFound("no speech model is loaded");
  Infos infos;
  for (const auto& model : models) infos.push_back(&model->info());
  const bool names_none = name.empty();
  if (names_none && request.language.empty())
    request.language = OtherSpokenLanguage(request.text, request.text_format, infos);
  if (const auto* const theirs = FindNvidiaVoice(name);
      theirs != nullptr && request.language.empty())
    request.language = theirs->second;
  const std::string_view language =
      request.language.empty() ? kUsualLanguage : std::string_view(request.language);
  Choice choice = names_none ? Choice{models::ChooseSpeechModel(infos, language, "")}
                             : FindVoice(infos, name, language);
  if (choice.model == nullptr) choice = FindAlias(infos, services.voice_aliases, name, language);
  if (choice.model == nullptr) return UnknownVoice(name, infos);
  request.model = choice.model->name;
  request.voice = std::move(choice.voice);
  if (request.language.empty() && !request.voice.empty())
    request.language = models::LanguageOfVoice(choice.model->speech(), request.voice);
  return absl::OkStatus();
}

absl::Status ListRivaVoices(const std::string& model, const ModelDirectory& directory,
                            nvidia::riva::tts::RivaSynthesisConfigResponse& response) {
  bool found = model.empty();
  for (const auto& served : SpeechModels(directory)) {
    const models::ModelInfo& info = served->info();
    if (!model.empty() && model != info.name) continue;
    found = true;
    const models::SpeechInfo& speech = info.speech();
    std::vector<std::pair<std::string, std::string>> voices;  // by language, in their order
    for (size_t i = 0; i < speech.voices.size(); ++i) {
      const std::string language = OfferedLanguage(speech, speech.voices[i]);
      auto place = std::ranges::find(voices, language, &std::pair<std::string, std::string>::first);
      if (place == voices.end()) place = voices.insert(place, {language, ""});
      place->second += StrCat(place->second.empty() ? "" : ",", speech.voices[i], ":", i);
    }
    for (const auto& [language, names] : voices) {
      auto& config = *response.add_model_config();
      config.set_model_name(info.name);
      auto& parameters = *config.mutable_parameters();
      parameters["language_code"] = language;
      parameters["voice_name"] = info.name;
      parameters["subvoices"] = names;
    }
  }
  if (found) return absl::OkStatus();
  return NotFound("model_name: no speech model ", Shown(model), " is loaded");
}

}  // namespace millrace::server
