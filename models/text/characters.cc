#include "models/text/characters.h"

#include <cstddef>

#include "models/text/unicode.h"

namespace millrace::models {

std::vector<Character> DecodeCharacters(std::string_view text) {
  std::vector<Character> characters;
  for (size_t at = 0; at < text.size();) {
    const CodePoint point = DecodeAt(text, at);
    if (point.value != 0xFFFD) characters.push_back({point.value, text.substr(at, point.bytes)});
    at += point.bytes;
  }
  return characters;
}

bool IsBlank(char32_t c) { return IsSpace(c) || c < 0x20 || (c >= 0x7F && c < 0xA0); }

}  // namespace millrace::models
