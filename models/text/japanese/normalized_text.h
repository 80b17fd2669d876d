#pragma once

#include <cstddef>
#include <string_view>

#include "absl/status/statusor.h"
#include "models/text/placed_text.h"
#include "models/text/read_letters.h"

namespace millrace::models {

inline bool IsBetween(char32_t c, char32_t first, char32_t last) { return c >= first && c <= last; }

inline bool IsLatinLetter(char32_t c) { return IsBetween(c, 'A', 'Z') || IsBetween(c, 'a', 'z'); }

// Return true for kanji, and for kana of any width.
bool IsKanjiCharacter(char32_t c);
bool IsAnyKana(char32_t c);

// The letters that are read in Japanese.
inline constexpr ReadLetters kJapanese = {
    [](char32_t c) { return IsKanjiCharacter(c) || IsAnyKana(c); },
    ", which is not read in Japanese; write it in kanji or kana"};

// Returns the text in the form NFKC, without accents and control characters and with one space for
// several. InvalidArgument names a letter that is not read. Thread-safe.
absl::StatusOr<PlacedText> NormalizeJapanese(std::string_view source);

}  // namespace millrace::models
