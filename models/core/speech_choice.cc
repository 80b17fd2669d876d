#include "models/core/speech_choice.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <tuple>

#include "absl/strings/str_split.h"
#include "models/core/language_tag.h"
#include "models/core/voice_name.h"

namespace millrace::models {
namespace {

// Returns how well a voice or a model for the language `tag` suits a text in `asked`; 0: not at
// all. More common subtags are better, and with as many a tag that says no more than `asked` does.
int Nearness(const std::string& tag, std::string_view asked) {
  if (LookUpLanguage({tag}, asked).empty()) return 0;
  const std::vector<std::string> own = absl::StrSplit(CanonicalLanguage(tag), '-');
  const std::vector<std::string> wanted = absl::StrSplit(CanonicalLanguage(asked), '-');
  const auto common = std::ranges::mismatch(own, wanted).in1 - own.begin();
  return static_cast<int>(2 * common) + (common == std::ssize(own) ? 1 : 0);
}

int CommonSubtags(int nearness) { return nearness / 2; }

int NearnessOfVoice(const SpeechInfo& info, size_t voice, std::string_view language) {
  return voice < info.voice_languages.size() ? Nearness(info.voice_languages[voice], language) : 0;
}

struct Fit {
  bool has_voice = true;
  int made_for = 0;  // nearness
};

Fit FitOf(const SpeechInfo& info, std::string_view language, std::string_view voice) {
  Fit fit;
  if (voice.empty()) {
    for (size_t i = 0; i < info.voices.size(); ++i)
      fit.made_for = std::max(fit.made_for, NearnessOfVoice(info, i, language));
    return fit;
  }
  fit.made_for = std::numeric_limits<int>::max();
  for (const VoicePart& part : VoiceParts(voice)) {
    const size_t index = FindVoice(info.voices, part.name);
    fit.has_voice = fit.has_voice && index != std::string_view::npos;
    fit.made_for = std::min(fit.made_for, NearnessOfVoice(info, index, language));
  }
  return fit;
}

int Reads(const SpeechInfo& info, std::string_view language) {
  int best = 0;
  for (const std::string& known : info.languages) best = std::max(best, Nearness(known, language));
  return best;
}

}  // namespace

std::string DefaultVoice(const SpeechInfo& info, std::string_view language) {
  if (info.voices.empty()) return "";
  if (language.empty()) language = info.language;
  std::string best = info.voices.front();
  int most = 0;
  const auto offer = [&](const std::string& voice, int nearness) {
    if (nearness <= most) return;
    most = nearness;
    best = voice;
  };
  for (const LanguageVoice& choice : info.default_voices) {
    const int own = NearnessOfVoice(info, FindVoice(info.voices, choice.voice), language);
    const int nearness = Nearness(choice.language, language);
    if (nearness > 0) offer(choice.voice, std::max(nearness, own));
  }
  for (size_t i = 0; i < info.voices.size(); ++i)
    offer(info.voices[i], NearnessOfVoice(info, i, language));
  return best;
}

std::vector<ModelVoice> VoicesOfAll(std::span<const ModelInfo* const> models,
                                    std::string_view language) {
  std::vector<const ModelInfo*> ordered;
  std::ranges::copy_if(models, std::back_inserter(ordered),
                       [](const ModelInfo* info) { return info->task() == Task::kSynthesis; });
  std::ranges::sort(ordered, {}, [](const ModelInfo* info) {
    return std::tuple(info->speech().speech_cost, std::string_view(info->name));
  });
  std::vector<ModelVoice> found;
  int most = 1;
  for (const ModelInfo* info : ordered) {
    for (std::string& voice : VoicesFor(info->speech(), language)) {
      const size_t place = FindVoice(info->speech().voices, voice);
      const int common = CommonSubtags(NearnessOfVoice(info->speech(), place, language));
      if (common < most) continue;
      if (common > most) found.clear();
      most = common;
      found.push_back({info, std::move(voice)});
    }
  }
  return found;
}

std::vector<std::string> VoicesFor(const SpeechInfo& info, std::string_view language) {
  if (info.voices.empty()) return {};
  const std::string_view wanted = language.empty() ? info.language : language;
  std::vector<std::string> voices = {DefaultVoice(info, wanted)};
  int most = 0;
  for (size_t i = 0; i < info.voices.size(); ++i)
    most = std::max(most, CommonSubtags(NearnessOfVoice(info, i, wanted)));
  // A request that names no language gets the voices of every region.
  const int least = language.empty() ? std::min(most, 1) : most;
  for (size_t i = 0; i < info.voices.size(); ++i) {
    if (info.voices[i] != voices.front() &&
        CommonSubtags(NearnessOfVoice(info, i, wanted)) >= least)
      voices.push_back(info.voices[i]);
  }
  return voices;
}

bool HasVoice(const SpeechInfo& info, std::string_view voice) {
  return FitOf(info, info.language, voice).has_voice;
}

std::string LanguageOfVoice(const SpeechInfo& info, std::string_view voice) {
  const size_t index = FindVoice(info.voices, VoiceParts(voice).front().name);
  return index < info.voice_languages.size() ? info.voice_languages[index] : std::string();
}

bool ReadsPronunciations(const SpeechInfo& info, std::string_view language) {
  return !LookUpLanguage(info.pronunciation_languages, language).empty();
}

bool IsMadeFor(const SpeechInfo& info, std::string_view language) {
  return FitOf(info, language, "").made_for > 0;
}

const ModelInfo* ChooseSpeechModel(std::span<const ModelInfo* const> models,
                                   std::string_view language, std::string_view voice) {
  const auto rank = [&](const ModelInfo* info) {
    const Fit fit = FitOf(info->speech(), language, voice);
    return std::tuple(!fit.has_voice, -fit.made_for, -Reads(info->speech(), language),
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
