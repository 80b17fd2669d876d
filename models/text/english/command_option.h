#pragma once

#include <cstddef>
#include <string_view>

namespace millrace::models {

// Returns true for the names of programs that are called with options: "rm", "git".
bool IsCommand(std::string_view word);
// Returns true if the hyphens from `at`, of which there are `count`, begin an option: "rm -rf",
// "--help". previous: the word before, in lower case. Thread-safe.
bool IsCommandOption(std::string_view text, size_t at, size_t count, std::string_view previous);

}  // namespace millrace::models
