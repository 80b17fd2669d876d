#include "server/requests/voice_aliases.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "models/core/speech_choice.h"
#include "models/core/strings.h"

namespace millrace::server {

namespace {

// Returns the alias of that name, whatever the case of its letters; null if there is none. An alias
// that the operator spells so comes first.
const std::string* FindConfigured(const VoiceAliases& aliases, const std::string& name) {
  if (const auto found = aliases->find(name); found != aliases->end()) return &found->second;
  for (const auto& [alias, voice] : *aliases) {
    if (absl::EqualsIgnoreCase(alias, name)) return &voice;
  }
  return nullptr;
}

const std::string_view* FindOpenAiVoice(std::string_view name) {
  return std::ranges::find_if(kOpenAiVoices, [name](std::string_view voice) {
    return absl::EqualsIgnoreCase(View(voice), View(name));
  });
}

}  // namespace

std::optional<size_t> PlaceOfOpenAiVoice(std::string_view name) {
  const std::string_view* const voice = FindOpenAiVoice(name);
  if (voice == std::end(kOpenAiVoices)) return std::nullopt;
  return static_cast<size_t>(voice - std::begin(kOpenAiVoices));
}

bool IsVoiceAlias(const VoiceAliases& aliases, const std::string& name) {
  return aliases && (FindConfigured(aliases, name) != nullptr ||
                     FindOpenAiVoice(name) != std::end(kOpenAiVoices));
}

std::string ConfiguredVoice(const VoiceAliases& aliases, const std::string& name) {
  if (!aliases) return "";
  const std::string* const voice = FindConfigured(aliases, name);
  return voice == nullptr ? "" : *voice;
}

std::string VoiceNamed(const VoiceAliases& aliases, const models::SpeechInfo& info,
                       const std::string& name, std::string_view language) {
  if (!IsVoiceAlias(aliases, name) || models::HasVoice(info, name)) return name;
  if (std::string voice = ConfiguredVoice(aliases, name);
      !voice.empty() && models::HasVoice(info, voice))
    return voice;
  const std::optional<size_t> place = PlaceOfOpenAiVoice(name);
  std::vector<std::string> voices = models::VoicesFor(info, language);
  if (!place || voices.empty()) return name;
  return std::move(voices[*place % voices.size()]);
}

}  // namespace millrace::server
