#include "models/text/unspaced_script.h"

#include "models/text/unicode.h"

namespace millrace::models {

namespace {

bool IsMostlyUnspaced(std::string_view text) {
  size_t letters = 0;
  size_t unspaced = 0;
  for (size_t at = 0; at < text.size();) {
    const CodePoint c = DecodeAt(text, at);
    letters += IsLetter(c.value) ? 1 : 0;
    unspaced += IsLetter(c.value) && IsUnspaced(c.value) ? 1 : 0;
    at += c.bytes;
  }
  return 2 * unspaced > letters;
}

}  // namespace

bool IsUnspaced(char32_t c) {
  return (c >= 0x3001 && c <= 0x312F) ||                                  // signs, kana, Bopomofo
         (c >= 0x31A0 && c <= 0x31FF) ||                                  // more of these
         (c >= 0x3400 && c <= 0x4DBF) || (c >= 0x4E00 && c <= 0x9FFF) ||  // ideographs
         (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x20000 && c <= 0x3FFFF) ||
         (c >= 0xFF01 && c <= 0xFF9F);  // wide ASCII, narrow katakana
}

bool EndsUnspaced(std::string_view text) {
  constexpr std::u32string_view kShared = U"\"')]}’”»…—";
  constexpr std::u32string_view kEndMarks = U".!?,;:";
  while (!text.empty()) {
    const CodePoint c = DecodeBefore(text, text.size());
    if (IsUnspaced(c.value)) return true;
    if (kEndMarks.find(c.value) != std::u32string_view::npos) return IsMostlyUnspaced(text);
    if (kShared.find(c.value) == std::u32string_view::npos) return false;
    text.remove_suffix(c.bytes);
  }
  return false;
}

size_t CountWords(std::string_view text) {
  size_t words = 0;
  size_t unspaced = 0;
  bool in_word = false;
  for (size_t at = 0; at < text.size();) {
    const CodePoint c = DecodeAt(text, at);
    const bool is_unspaced = IsUnspaced(c.value);
    const bool is_word = !is_unspaced && !IsSpace(c.value);
    if (is_unspaced && IsLetter(c.value)) ++unspaced;
    if (is_word && !in_word) ++words;
    in_word = is_word;
    at += c.bytes;
  }
  return words + (unspaced + 1) / 2;
}

}  // namespace millrace::models
