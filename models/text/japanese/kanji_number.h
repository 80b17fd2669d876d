#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace millrace::models {

// Returns the number that kanji write with units; nullopt for those that are no number, such as
// 二三, "two or three". Thread-safe.
std::optional<uint64_t> ParseKanjiNumber(std::u32string_view text);

}  // namespace millrace::models
