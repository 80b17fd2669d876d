#include "server/requests/speech_names.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>
#include <variant>

#include "absl/strings/ascii.h"
#include "absl/strings/str_join.h"
#include "models/core/errors.h"
#include "models/core/language_tag.h"
#include "models/core/shown.h"
#include "models/core/speech_choice.h"
#include "models/core/strings.h"
#include "models/core/voice_name.h"
#include "server/requests/kokoro_names.h"
#include "server/requests/spoken_language.h"

namespace millrace::server {
namespace {

// OpenAI's, which are kept for clients although OpenAI ends its own service of some, and what
// clients of Kokoro-FastAPI name.
constexpr std::string_view kModels[] = {"tts-1", "tts-1-hd", "gpt-4o-mini-tts", "kokoro"};

// Returns true for "-1106" and "-2025-12-15".
bool IsDate(std::string_view suffix) {
  const std::string_view form = suffix.size() == 5 ? "-dddd" : "-dddd-dd-dd";
  return std::ranges::equal(suffix, form, [](char c, char wanted) {
    return wanted == 'd' ? c >= '0' && c <= '9' : c == wanted;
  });
}

// models: speech models only.
bool HasVoiceOfAny(const std::vector<std::shared_ptr<ServedModel>>& models,
                   std::string_view voice) {
  return std::ranges::any_of(
      models, [&](const auto& model) { return models::HasVoice(model->info().speech(), voice); });
}

// Lets one of Kokoro's published voices that no model has stand for any voice of its language, as
// OpenAI's names do, where a model is made for that.
void TakeKokoroVoice(SpeechRequest& speech,
                     const std::vector<std::shared_ptr<ServedModel>>& models) {
  if (speech.voice.empty() || HasVoiceOfAny(models, speech.voice)) return;
  const std::string_view language = LanguageOfKokoroVoice(speech.voice);
  const bool spoken = !language.empty() && std::ranges::any_of(models, [&](const auto& model) {
    return models::IsMadeFor(model->info().speech(), language);
  });
  if (!spoken) return;
  speech.voice.clear();
  if (speech.language.empty()) speech.language = language;
}

// Returns an error if no model reads the language, rather than let the one that is chosen name its
// own languages.
absl::Status CheckLanguage(const SpeechRequest& speech,
                           const std::vector<std::shared_ptr<ServedModel>>& models) {
  if (speech.language.empty()) return absl::OkStatus();
  std::vector<std::string> choice;
  for (const auto& model : models) {
    const std::vector<std::string>& languages = model->info().speech().languages;
    if (!models::LookUpLanguage(languages, speech.language).empty()) return absl::OkStatus();
    choice.push_back(StrCat(absl::StrJoin(languages, ", "), " (", model->info().name, ")"));
  }
  return InvalidArgument("language: no loaded model speaks ", Shown(speech.language),
                         "; they speak: ", absl::StrJoin(choice, ", "));
}

}  // namespace

absl::Status SpeechNames::Resolve(SpeechRequest& speech) const {
  if (speech.model.empty() || IsModelAlias(speech.model)) {
    const Models models = SpeechModels();
    if (models.empty()) return UnknownModel(speech.model, models);
    if (has_aliases() && !IsVoiceAlias(voices_, speech.voice)) TakeKokoroVoice(speech, models);
    MILLRACE_RETURN_IF_ERROR(CheckVoice(speech.voice, models));
    MILLRACE_RETURN_IF_ERROR(CheckLanguage(speech, models));
    ChooseModel(speech, models);
  }
  const auto model = models_.Find(speech.model, speech.model_version);
  if (!model.ok()) {
    return models_.Find(speech.model, "").ok() ? model.status()
                                               : UnknownModel(speech.model, SpeechModels());
  }
  speech.model = (*model)->info().name;
  if (const auto* info = std::get_if<models::SpeechInfo>(&(*model)->info().details)) {
    if (speech.language.empty())
      speech.language = LanguageOfOtherScript(speech.text, speech.text_format, (*model)->info());
    speech.voice = VoiceOf(*info, speech.voice, speech.language);
  }
  return absl::OkStatus();
}

bool SpeechNames::KnowsVoice(const std::string& voice) const {
  return IsVoiceAlias(voices_, voice) || HasVoiceOfAny(SpeechModels(), voice);
}

std::string SpeechNames::VoiceOf(const models::SpeechInfo& info, const std::string& name,
                                 std::string_view language) const {
  return models::InOwnSpelling(info.voices, VoiceNamed(voices_, info, name, language));
}

absl::StatusOr<std::vector<std::shared_ptr<ServedModel>>> SpeechNames::ModelsMeantBy(
    const std::string& name) const {
  if (IsModelAlias(name)) return SpeechModels();
  MILLRACE_ASSIGN_OR_RETURN(auto model, models_.Find(name, ""));
  return std::vector{std::move(model)};
}

std::vector<std::string_view> SpeechNames::ModelAliases() const {
  std::vector<std::string_view> aliases(std::begin(kModels), std::end(kModels));
  std::erase_if(aliases, [this](std::string_view name) { return !IsModelAlias(name); });
  return aliases;
}

std::vector<SpeechNames::VoiceAlias> SpeechNames::VoiceAliasesOf(
    const models::SpeechInfo& info) const {
  std::vector<VoiceAlias> aliases;
  const auto add = [&](const std::string& name) {
    std::string voice = VoiceOf(info, name, "");
    if (voice != name) aliases.push_back({name, std::move(voice)});
  };
  for (const std::string_view name : kOpenAiVoices) add(std::string(name));
  if (!voices_) return aliases;
  for (const auto& [name, voice] : *voices_) {
    if (std::ranges::find(kOpenAiVoices, name) == std::end(kOpenAiVoices)) add(name);
  }
  return aliases;
}

SpeechNames::Models SpeechNames::SpeechModels() const {
  return models_.AllForTask(models::Task::kSynthesis);
}

bool SpeechNames::IsModelAlias(std::string_view name) const {
  const std::string lower = absl::AsciiStrToLower(View(name));
  const bool known = std::ranges::any_of(kModels, [&lower](std::string_view model) {
    return lower.starts_with(model) &&
           (lower.size() == model.size() || IsDate(std::string_view(lower).substr(model.size())));
  });
  return known && !models_.Find(name, "").ok() && !SpeechModels().empty();
}

absl::Status SpeechNames::UnknownModel(std::string_view name, const Models& models) const {
  if (models.empty()) return NotFound("model: no model for speech is loaded");
  std::vector<std::string> loaded;
  for (const auto& model : models) loaded.push_back(model->info().name);
  std::vector<std::string> aliases;
  for (const std::string_view alias : ModelAliases()) aliases.emplace_back(alias);
  return NotFound("model: ", Shown(name),
                  " is not loaded; loaded for speech are: ", absl::StrJoin(loaded, ", "),
                  "; these names stand for any of them: ", absl::StrJoin(aliases, ", "));
}

absl::Status SpeechNames::CheckVoice(const std::string& voice, const Models& models) const {
  if (voice.empty() || KnowsVoice(voice)) return absl::OkStatus();
  std::vector<std::string> choice;
  for (const auto& model : models) {
    const std::vector<std::string>& voices = model->info().speech().voices;
    choice.push_back(StrCat(absl::StrJoin(voices, ", "), " (", model->info().name, ")"));
  }
  std::string_view missing = voice;
  for (const models::VoicePart& part : models::VoiceParts(voice)) {
    if (!HasVoiceOfAny(models, part.name)) missing = part.name;
  }
  // The name of a part, since an alias as the whole is known.
  const bool alias = IsVoiceAlias(voices_, std::string(missing));
  std::string message = StrCat(
      "voice: ", Shown(missing),
      alias ? " stands for a voice, but not in a mix or with a weight" : " is a voice of no model",
      "; there are: ", absl::StrJoin(choice, ", "));
  if (missing.size() == voice.size() && missing.find('+') != missing.npos)
    message += "; the voices of a mix are of one model";
  if (voices_ && !alias) message += "; OpenAI's names, such as alloy, stand for one of them";
  return InvalidArgument(message);
}

void SpeechNames::ChooseModel(SpeechRequest& speech, const Models& models) const {
  std::vector<const models::ModelInfo*> infos;
  for (const auto& model : models) infos.push_back(&model->info());
  std::string voice = speech.voice;
  std::optional<size_t> place;  // among OpenAI's voices, where the name is no voice that is here
  if (IsVoiceAlias(voices_, voice) && !HasVoiceOfAny(models, voice)) {
    place = PlaceOfOpenAiVoice(voice);
    voice = ConfiguredVoice(voices_, voice);
    if (!HasVoiceOfAny(models, voice)) voice.clear();
  }
  if (speech.language.empty() && voice.empty())
    speech.language = OtherSpokenLanguage(speech.text, speech.text_format, infos);
  const std::string_view language = speech.language.empty() ? kUsualLanguage : speech.language;
  if (voice.empty() && place) {
    // OpenAI's names are spread over the voices of all models.
    const std::vector<models::ModelVoice> voices = models::VoicesOfAll(infos, language);
    if (!voices.empty()) {
      const models::ModelVoice& chosen = voices[*place % voices.size()];
      speech.model = chosen.model->name;
      speech.voice = chosen.voice;
      return;
    }
  }
  const models::ModelInfo* chosen = models::ChooseSpeechModel(infos, language, voice);
  if (chosen != nullptr) speech.model = chosen->name;
}

}  // namespace millrace::server
