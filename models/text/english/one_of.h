#pragma once

#include <string_view>

namespace millrace::models {

// Returns true if the word is one of the others.
template <typename... Words>
bool IsOneOf(std::string_view word, const Words&... words) {
  return ((word == std::string_view(words)) || ...);
}

}  // namespace millrace::models
