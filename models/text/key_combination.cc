#include "models/text/key_combination.h"

#include "models/text/code_words.h"

namespace millrace::models {
namespace {

// Returns true for a letter or digit, F5, or a key that has a name.
bool IsKey(std::string_view word) {
  const bool is_function = word.size() > 1 && word.size() < 4 && word.front() == 'F' &&
                           std::ranges::all_of(word.substr(1), IsAsciiDigit);
  return word.size() == 1 || is_function || IsCodeWord(word, "key");
}

// Reads the keys that are written as signs, with a letter or digit behind them.
size_t SignsEnd(std::string_view text, size_t at) {
  constexpr std::u32string_view kSigns = U"⌘⌥⇧⌃⎋⏎↩⇥⌫⌦";
  constexpr size_t kLongest = 64;
  size_t end = at;
  for (CodePoint c = DecodeAt(text, at);
       c.bytes > 0 && kSigns.find(c.value) != kSigns.npos && end - at < kLongest;
       c = DecodeAt(text, end))
    end += c.bytes;
  if (end == at) return 0;
  return IsAsciiAlnum(ByteAt(text, end)) && !IsNameByte(ByteAt(text, end + 1)) ? end + 1 : end;
}

}  // namespace

size_t KeyCombinationEnd(const PatternText& text, size_t at) {
  if (static_cast<unsigned char>(text.At(at)) >= 0xE2) return SignsEnd(text.text(), at);
  constexpr size_t kMostKeys = 4;
  size_t end = text.NameEnd(at);
  if (!IsCodeWord(text.text().substr(at, end - at), "modifier")) return 0;
  for (size_t keys = 1; keys <= kMostKeys; ++keys) {
    const size_t spaces = text.At(end) == ' ' ? 1 : 0;
    const char joint = text.At(end + spaces);
    if (joint != '+' && (joint != '-' || spaces > 0)) return 0;
    const size_t begin = end + 1 + 2 * spaces;
    if (spaces > 0 && text.At(begin - 1) != ' ') return 0;
    end = text.NameEnd(begin);
    const std::string_view key = text.text().substr(begin, end - begin);
    if (IsKey(key)) return end;
    // Ctrl++, Ctrl+-
    constexpr std::string_view kSigns = "+-=/`[]";
    if (key.empty() && spaces == 0 && text.At(begin) != '\0' &&
        kSigns.find(text.At(begin)) != std::string_view::npos && !IsNameByte(text.At(begin + 1)))
      return begin + 1;
    if (!IsCodeWord(key, "modifier")) return 0;
  }
  return 0;
}

}  // namespace millrace::models
