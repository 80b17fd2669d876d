#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::models {

// A word in pinyin with marks of tones: "huā'ér".
struct PinyinWord {
  size_t end = 0;                      // one past its last character
  std::vector<std::string> syllables;  // with tone numbers, where ü is v; empty if it is no pinyin
};

// Reads the word at `begin`, of which each syllable but a last one in the neutral tone must have a
// mark: "café" is none. is_syllable: returns true for a syllable that there is. Thread-safe; looks
// a bounded number of characters ahead.
PinyinWord ReadPinyin(std::u32string_view text, size_t begin,
                      const std::function<bool(std::string_view syllable)>& is_syllable);

}  // namespace millrace::models
