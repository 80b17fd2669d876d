#include "models/text/english/word_range.h"

#include <string>

#include "models/text/ascii.h"
#include "models/text/english/word_kinds.h"

namespace millrace::models {

bool BoundsTime(std::string_view word) { return IsOfKind(AsciiLower(word), "bounds-time"); }

std::optional<Reading> ReadWordRange(std::string_view text, size_t at) {
  const std::string_view from = LettersAt(text, at);
  const size_t dash = at + from.size();
  const bool en_dash = text.substr(dash).starts_with("–");
  if (from.empty() || (!en_dash && ByteAt(text, dash) != '-')) return std::nullopt;
  const size_t second = dash + (en_dash ? std::string_view("–").size() : 1);
  const std::string_view to = LettersAt(text, second);
  const bool times = BoundsTime(from) && (IsAsciiDigit(ByteAt(text, second)) || BoundsTime(to));
  // "A-Z" is the whole alphabet; other letters with a hyphen are a name.
  const bool letters = from.size() == 1 && to.size() == 1 && IsAsciiUpper(from[0]) &&
                       IsAsciiUpper(to[0]) && from[0] < to[0] &&
                       (en_dash || (from == "A" && to == "Z"));
  if (times) return Reading{second, {std::string(from), "to"}};
  if (letters) return Reading{second, {std::string(from) + ".", "to"}};
  return std::nullopt;
}

}  // namespace millrace::models
