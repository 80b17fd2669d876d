#pragma once

#include <cstddef>
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
  size_t first_part = 0;     // how many of three characters are its first part; 0: it has none
  bool is_repeated = false;  // 一 and the same word follow
};

// The number of a third tone that the word makes the second.
inline constexpr char kRaisedThirdTone = '6';

// Joins words that are spoken as one, as misaki does, and changes tones in them: a third tone
// before another is the second (很 in 很好), and 不 and 一 have the tone that the next syllable
// asks for. The words must lie one behind the other in one text. Thread-safe; linear time.
void ChangeTones(std::vector<ChineseReading>& words);

}  // namespace millrace::models
