#include "server/frontends/http/openai_names.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <variant>

#include "absl/strings/str_join.h"
#include "models/core/shown.h"
#include "models/core/speech_choice.h"
#include "models/core/strings.h"
#include "server/requests/spoken_language.h"

namespace millrace::server {
namespace {

// These names are kept for clients although OpenAI ends its own service of some.
constexpr std::string_view kModels[] = {"tts-1", "tts-1-hd", "gpt-4o-mini-tts"};

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

}  // namespace

absl::Status OpenAiNames::Resolve(SpeechRequest& speech) const {
  speech.takes_voice_aliases = true;
  if (IsModelAlias(speech.model)) {
    const Models models = SpeechModels();
    if (absl::Status status = CheckVoice(speech, models); !status.ok()) return status;
    ChooseModel(speech, models);
  }
  // A missing model is refused with the rest of the request.
  const auto model = models_.Find(speech.model, speech.model_version);
  if (!model.ok()) return absl::OkStatus();
  if (const auto* info = std::get_if<models::SpeechInfo>(&(*model)->info().details))
    speech.voice = VoiceNamed(voices_, *info, speech.voice, speech.language);
  return absl::OkStatus();
}

std::string OpenAiNames::WithoutKokoro(const std::string& name) const {
  return name != "kokoro" || models_.Find(name, "").ok() ? name : std::string(kModels[0]);
}

absl::StatusOr<std::vector<std::shared_ptr<ServedModel>>> OpenAiNames::ModelsMeantBy(
    const std::string& name) const {
  if (IsModelAlias(name)) return SpeechModels();
  auto model = models_.Find(name, "");
  if (!model.ok()) return model.status();
  return std::vector{*std::move(model)};
}

std::vector<std::string_view> OpenAiNames::ModelAliases() const {
  std::vector<std::string_view> aliases(std::begin(kModels), std::end(kModels));
  std::erase_if(aliases, [this](std::string_view name) { return !IsModelAlias(name); });
  return aliases;
}

std::vector<OpenAiNames::VoiceAlias> OpenAiNames::VoiceAliasesOf(
    const models::SpeechInfo& info) const {
  std::vector<VoiceAlias> aliases;
  const auto add = [&](const std::string& name) {
    std::string voice = VoiceNamed(voices_, info, name, "");
    if (voice != name) aliases.push_back({name, std::move(voice)});
  };
  for (const std::string_view name : kOpenAiVoices) add(std::string(name));
  if (!voices_) return aliases;
  for (const auto& [name, voice] : *voices_) {
    if (std::ranges::find(kOpenAiVoices, name) == std::end(kOpenAiVoices)) add(name);
  }
  return aliases;
}

OpenAiNames::Models OpenAiNames::SpeechModels() const {
  Models models = models_.All();
  std::erase_if(models,
                [](const auto& model) { return model->info().task() != models::Task::kSynthesis; });
  return models;
}

bool OpenAiNames::IsModelAlias(std::string_view name) const {
  const bool known = std::ranges::any_of(kModels, [name](std::string_view model) {
    return name.starts_with(model) &&
           (name.size() == model.size() || IsDate(name.substr(model.size())));
  });
  return known && !models_.Find(name, "").ok() && !SpeechModels().empty();
}

absl::Status OpenAiNames::CheckVoice(const SpeechRequest& speech, const Models& models) const {
  if (speech.voice.empty() || IsVoiceAlias(voices_, speech.voice)) return absl::OkStatus();
  // The model checks a mix such as "a:0.3+b:0.7".
  const std::string voice = speech.voice.substr(0, speech.voice.find_first_of(":+"));
  std::vector<std::string> choice;
  for (const auto& model : models) {
    const std::vector<std::string>& voices = model->info().speech().voices;
    if (std::ranges::find(voices, voice) != voices.end()) return absl::OkStatus();
    choice.push_back(StrCat(absl::StrJoin(voices, ", "), " (", model->info().name, ")"));
  }
  return absl::InvalidArgumentError(
      StrCat("voice: ", Shown(voice),
             " is a voice of no model; there are: ", absl::StrJoin(choice, ", ")));
}

void OpenAiNames::ChooseModel(SpeechRequest& speech, const Models& models) const {
  std::vector<const models::ModelInfo*> infos;
  for (const auto& model : models) infos.push_back(&model->info());
  std::string voice = speech.voice;
  if (IsVoiceAlias(voices_, voice) && !HasVoiceOfAny(models, voice)) {
    voice = ConfiguredVoice(voices_, voice);
    if (!HasVoiceOfAny(models, voice)) voice.clear();
  }
  if (speech.language.empty() && voice.empty())
    speech.language = OtherSpokenLanguage(speech.text, speech.text_format, infos);
  const std::string_view language = speech.language.empty() ? kUsualLanguage : speech.language;
  const models::ModelInfo* chosen = models::ChooseSpeechModel(infos, language, voice);
  if (chosen != nullptr) speech.model = chosen->name;
}

}  // namespace millrace::server
