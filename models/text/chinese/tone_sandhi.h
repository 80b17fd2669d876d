#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::models {

// The bytes of a character that a lexicon of Chinese has.
inline constexpr size_t kChineseCharacterBytes = 3;

// A word of Chinese characters and its syllables in pinyin with tone numbers, which have the tones
// that they have within the word.
struct ChineseReading {
  std::string_view word;
  std::vector<std::string> syllables;
};

// Changes the tones of words that are spoken without a pause between by their neighbours: a third
// tone before another is the second (很 in 很好), and 不 and 一 alone have the tone that the next
// syllable asks for. Thread-safe; linear time.
void ChangeTones(std::span<ChineseReading> words);

}  // namespace millrace::models
