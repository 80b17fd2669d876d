#pragma once

#include <string_view>
#include <vector>

namespace millrace::models {

// A code point of a text and its position.
struct Character {
  char32_t value = 0;
  std::string_view bytes;
};

// Decodes UTF-8; bytes that are not UTF-8 are left out. The text must outlive the result.
std::vector<Character> DecodeCharacters(std::string_view text);

// Returns true for white space and control characters.
bool IsBlank(char32_t c);

}  // namespace millrace::models
