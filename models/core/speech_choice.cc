#include "models/core/speech_choice.h"

#include <algorithm>
#include <tuple>

#include "models/core/language_tag.h"

namespace millrace::models {
namespace {

std::string_view FirstSubtag(std::string_view tag) { return tag.substr(0, tag.find('-')); }

bool SameLanguage(std::string_view a, std::string_view b) {
  return FirstSubtag(CanonicalLanguage(a)) == FirstSubtag(CanonicalLanguage(b));
}

bool MadeFor(const SpeechInfo& info, size_t voice, std::string_view language) {
  return voice < info.voice_languages.size() && SameLanguage(info.voice_languages[voice], language);
}

// Returns the index of a voice; npos if the model does not have it.
size_t FindVoice(const SpeechInfo& info, std::string_view name) {
  const auto found = std::ranges::find(info.voices, name);
  return found == info.voices.end() ? std::string_view::npos
                                    : static_cast<size_t>(found - info.voices.begin());
}

struct Fit {
  bool has_voice = true;
  bool made_for = false;
};

Fit FitOf(const SpeechInfo& info, std::string_view language, std::string_view voice) {
  Fit fit;
  if (voice.empty()) {
    for (size_t i = 0; i < info.voices.size(); ++i)
      fit.made_for = fit.made_for || MadeFor(info, i, language);
    return fit;
  }
  fit.made_for = true;
  while (!voice.empty()) {
    const std::string_view part = voice.substr(0, voice.find('+'));
    const size_t index = FindVoice(info, part.substr(0, part.find(':')));
    fit.has_voice = fit.has_voice && index != std::string_view::npos;
    fit.made_for = fit.made_for && MadeFor(info, index, language);
    voice.remove_prefix(std::min(part.size() + 1, voice.size()));
  }
  return fit;
}

bool Reads(const SpeechInfo& info, std::string_view language) {
  return std::ranges::any_of(
      info.languages, [&](const std::string& known) { return SameLanguage(known, language); });
}

}  // namespace

std::string DefaultVoice(const SpeechInfo& info, std::string_view language) {
  if (info.voices.empty()) return "";
  if (language.empty()) language = info.language;
  for (const LanguageVoice& choice : info.default_voices) {
    if (SameLanguage(choice.language, language)) return choice.voice;
  }
  for (size_t i = 0; i < info.voices.size(); ++i) {
    if (MadeFor(info, i, language)) return info.voices[i];
  }
  return info.voices.front();
}

std::vector<std::string> VoicesFor(const SpeechInfo& info, std::string_view language) {
  if (info.voices.empty()) return {};
  if (language.empty()) language = info.language;
  std::vector<std::string> voices = {DefaultVoice(info, language)};
  bool any = false;
  for (size_t i = 0; i < info.voices.size(); ++i) any = any || MadeFor(info, i, language);
  for (size_t i = 0; i < info.voices.size(); ++i) {
    if (info.voices[i] != voices.front() && (!any || MadeFor(info, i, language)))
      voices.push_back(info.voices[i]);
  }
  return voices;
}

bool HasVoice(const SpeechInfo& info, std::string_view voice) {
  return FitOf(info, info.language, voice).has_voice;
}

const ModelInfo* ChooseSpeechModel(std::span<const ModelInfo* const> models,
                                   std::string_view language, std::string_view voice) {
  const auto rank = [&](const ModelInfo* info) {
    const Fit fit = FitOf(info->speech(), language, voice);
    return std::tuple(!fit.has_voice, !fit.made_for, !Reads(info->speech(), language),
                      info->speech().speech_cost, std::string_view(info->name));
  };
  const ModelInfo* best = nullptr;
  for (const ModelInfo* info : models) {
    if (info->task() != Task::kSynthesis) continue;
    if (best == nullptr || rank(info) < rank(best)) best = info;
  }
  return best;
}

}  // namespace millrace::models
