#pragma once

#include <optional>
#include <string_view>

namespace millrace::models {

// Returns true if the word is of the kind that word_kinds.txt has. Thread-safe.
bool IsOfKind(std::string_view word, std::string_view kind);

// Returns how something of a kind is spoken, by spoken_names.txt. Thread-safe.
std::optional<std::string_view> FindSpoken(std::string_view written, std::string_view kind);

}  // namespace millrace::models
