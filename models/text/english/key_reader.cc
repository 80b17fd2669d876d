#include "models/text/english/key_reader.h"

#include "models/text/ascii.h"
#include "models/text/english/letter_word.h"
#include "models/text/english/word_kinds.h"
#include "models/text/key_combination.h"
#include "models/text/pattern_text.h"

namespace millrace::models {

std::optional<Reading> ReadKeys(const NumberWords& numbers, std::string_view text, size_t at) {
  if (!IsAsciiUpper(ByteAt(text, at))) return std::nullopt;
  constexpr size_t kLongestModifier = 8;
  const size_t joint = LettersEnd(text, at, kLongestModifier);
  if (ByteAt(text, joint) != '-' && ByteAt(text, joint) != '+' && text.substr(joint, 3) != " + ")
    return std::nullopt;
  const size_t end = KeyCombinationEnd(PatternText(text), at);
  if (end == 0) return std::nullopt;
  Reading reading{end, {}};
  for (size_t key = at; key < end;) {
    size_t key_end = LettersEnd(text.substr(0, end), key);
    const std::string_view word = text.substr(key, key_end - key);
    if (const auto name = FindSpoken(word, "key")) {
      reading.AppendEach(*name);
    } else if (!word.empty()) {
      reading.Append(word.size() == 1 ? Dotted(word) : AsciiLower(word));
    }
    // "F5", "4".
    const size_t digits = key_end;
    key_end = DigitsEnd(text.substr(0, end), digits);
    if (key_end > digits) reading.Append(numbers.Whole(text.substr(digits, key_end - digits)));
    key = key_end;
    if (text.substr(key, end - key).find('+') < 2) reading.Append("plus");
    while (key < end && !IsAsciiAlnum(text[key])) ++key;
  }
  return reading;
}

}  // namespace millrace::models
