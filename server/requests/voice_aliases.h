#pragma once

#include <map>
#include <optional>
#include <string>

namespace millrace::server {

// Voices by their aliases, as the operator sets them (--voice-aliases). An empty voice: the alias
// stands for none. No map: no alias stands for a voice. Names that a protocol's clients send
// because they know no others, and that are missing here, stand for voices of the model that
// speaks.
using VoiceAliases = std::optional<std::map<std::string, std::string>>;

}  // namespace millrace::server
