#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "models/text/english/reading.h"

namespace millrace::models {

// Reads a word as people write it in chats: "pls", "idk", "soooo". end: one past the word, for the
// reading. nullopt if it is none. Thread-safe.
std::optional<Reading> ReadChatWord(std::string_view word, size_t end);

}  // namespace millrace::models
