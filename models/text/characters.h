#pragma once

#include <string_view>
#include <vector>

namespace millrace::models {

// A code point of a text, and where it stands there.
struct Character {
  char32_t value = 0;
  std::string_view bytes;
};

// Those of a UTF-8 text, which must outlive them; bytes that are not UTF-8 are left out.
std::vector<Character> DecodeCharacters(std::string_view text);

// White space, or a control character.
bool IsBlank(char32_t c);

}  // namespace millrace::models
