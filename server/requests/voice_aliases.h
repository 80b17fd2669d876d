#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "models/core/model_info.h"

namespace millrace::server {

// Voices by their aliases, as the operator sets them (--voice-aliases). An empty voice: the alias
// stands for none. No map: no alias stands for a voice. Names that a protocol's clients send
// because they know no others, and that are missing here, stand for voices of the model that
// speaks.
using VoiceAliases = std::optional<std::map<std::string, std::string>>;

// OpenAI's voices, which clients of several protocols name. The place of a name here determines
// which of a model's voices it stands for, unless the operator says so.
inline constexpr std::string_view kOpenAiVoices[] = {"alloy", "ash",   "ballad", "coral", "echo",
                                                     "fable", "nova",  "onyx",   "sage",  "shimmer",
                                                     "verse", "marin", "cedar"};

// Returns true for the operator's aliases and OpenAI's voices, unless aliases are off. The case of
// letters does not matter, here and below.
bool IsVoiceAlias(const VoiceAliases& aliases, const std::string& name);

// Returns the place of a name among OpenAI's voices; nullopt for others.
std::optional<size_t> PlaceOfOpenAiVoice(std::string_view name);

// Returns the voice that the operator names for an alias; empty if none.
std::string ConfiguredVoice(const VoiceAliases& aliases, const std::string& name);

// Returns the model's voice for an alias in a language (empty: any); the name itself if it is no
// alias, or a voice of the model.
std::string VoiceNamed(const VoiceAliases& aliases, const models::SpeechInfo& info,
                       const std::string& name, std::string_view language);

}  // namespace millrace::server
