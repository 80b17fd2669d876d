#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace millrace::models {

// Returns the number that kanji write with units; nullopt for those that are no number, such as
// 二三, "two or three". Thread-safe.
std::optional<uint64_t> ParseKanjiNumber(std::u32string_view text);

// Makes kanji that are written like digits ASCII digits: 二〇二五 is 2025. Thread-safe; linear
// time.
void ReplacePositionalKanji(std::u32string& text);

}  // namespace millrace::models
