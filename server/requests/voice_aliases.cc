#include "server/requests/voice_aliases.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

#include "models/core/speech_choice.h"

namespace millrace::server {

bool IsVoiceAlias(const VoiceAliases& aliases, const std::string& name) {
  return aliases && (aliases->contains(name) ||
                     std::ranges::find(kOpenAiVoices, name) != std::end(kOpenAiVoices));
}

std::string ConfiguredVoice(const VoiceAliases& aliases, const std::string& name) {
  if (!aliases) return "";
  const auto found = aliases->find(name);
  return found == aliases->end() ? "" : found->second;
}

std::string VoiceNamed(const VoiceAliases& aliases, const models::SpeechInfo& info,
                       const std::string& name, std::string_view language) {
  if (!IsVoiceAlias(aliases, name) || models::HasVoice(info, name)) return name;
  if (std::string voice = ConfiguredVoice(aliases, name);
      !voice.empty() && models::HasVoice(info, voice))
    return voice;
  const auto* const place = std::ranges::find(kOpenAiVoices, name);
  std::vector<std::string> voices = models::VoicesFor(info, language);
  if (place == std::end(kOpenAiVoices) || voices.empty()) return name;
  return std::move(voices[static_cast<size_t>(place - std::begin(kOpenAiVoices)) % voices.size()]);
}

}  // namespace millrace::server
