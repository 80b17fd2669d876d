#include "models/text/japanese/kanji_number.h"

#include <algorithm>

#include "models/text/japanese/counters.h"

namespace millrace::models {

std::optional<uint64_t> ParseKanjiNumber(std::u32string_view text) {
  uint64_t total = 0;
  uint64_t part = 0;  // below 10,000
  constexpr uint64_t kNone = UINT64_MAX;
  uint64_t digit = kNone;  // in front of a unit
  uint64_t last_unit = 10'000;
  uint64_t last_large = UINT64_MAX;
  for (const char32_t c : text) {
    const size_t value = c == U'零' ? 0 : kKanjiDigits.find(c);
    if (value != std::u32string_view::npos) {
      if (digit != kNone) return std::nullopt;
      digit = value;
      continue;
    }
    const uint64_t unit = c == U'十' ? 10 : c == U'百' ? 100 : c == U'千' ? 1000 : 0;
    if (unit > 0) {
      if (unit >= last_unit || digit == 0) return std::nullopt;
      part += (digit == kNone ? 1 : digit) * unit;
      last_unit = unit;
    } else {
      const uint64_t large = c == U'万'   ? 10'000
                             : c == U'億' ? 100'000'000
                             : c == U'兆' ? 1'000'000'000'000
                                          : 0;
      if (large == 0 || large >= last_large) return std::nullopt;
      part += digit == kNone ? 0 : digit;
      if (part == 0) return std::nullopt;
      total += part * large;
      part = 0;
      last_unit = 10'000;
      last_large = large;
    }
    digit = kNone;
  }
  return total + part + (digit == kNone ? 0 : digit);
}

void ReplacePositionalKanji(std::u32string& text) {
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    bool zero = false;
    while (end < text.size() && kKanjiDigits.find(text[end]) != std::u32string_view::npos)
      zero = text[end++] == U'〇' || zero;
    const bool year = end - at == 4 && end < text.size() && text[end] == U'年';
    if (end - at >= 2 && (zero || year)) {
      for (size_t i = at; i < end; ++i)
        text[i] = static_cast<char32_t>('0' + kKanjiDigits.find(text[i]));
    }
    at = std::max(end, at + 1);
  }
}

}  // namespace millrace::models
