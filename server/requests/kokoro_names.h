#pragma once

#include <string_view>

namespace millrace::server {

// Returns the language of one of Kokoro's letters for them, such as 'a' for en-US; empty for
// others.
std::string_view KokoroLanguage(char letter);

// Returns the language of a voice that hexgrad/Kokoro-82M publishes, which clients of
// Kokoro-FastAPI send, or of the first voice of a mix of such; empty for all other names.
std::string_view LanguageOfKokoroVoice(std::string_view voice);

}  // namespace millrace::server
