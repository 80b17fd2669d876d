#pragma once

#include <cstddef>
#include <string_view>

namespace millrace::models {

// A word in kana, and its pronunciation in katakana.
struct KanaWord {
  std::u32string_view written;  // empty: none
  std::u32string_view spoken;
};

// Returns the pronunciation in katakana of the word from `begin` to `end` where what stands around
// it decides otherwise than the dictionary did: 何です, に行って, 辛い料理; empty to keep the
// dictionary's. pronounced: the dictionary's. Thread-safe.
std::u32string_view ReadingInContext(std::u32string_view text, size_t begin, size_t end,
                                     std::string_view pronounced);

// Returns the longest word at `begin` that people write in kana and that a dictionary takes for
// several: とうきょう, えいが. Thread-safe.
KanaWord FindKanaWord(std::u32string_view text, size_t begin);

// Returns the longest name of a person or a place at `begin` that the dictionary lacks or reads
// otherwise than people do: 聡太, 枚方. Thread-safe.
KanaWord FindName(std::u32string_view text, size_t begin);

}  // namespace millrace::models
