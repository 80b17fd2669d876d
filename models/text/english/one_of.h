#pragma once

#include <cstddef>
#include <cstring>
#include <string_view>

namespace millrace::models {

// Returns true if the word is one of the others. Only those of its length are compared.
template <size_t... sizes>
bool IsOneOf(std::string_view word, const char (&... others)[sizes]) {
  return ((word.size() == sizes - 1 && std::memcmp(word.data(), others, sizes - 1) == 0) || ...);
}

}  // namespace millrace::models
