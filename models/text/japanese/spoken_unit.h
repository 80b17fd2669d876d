#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "models/text/japanese/japanese_words.h"

namespace millrace::models {

// A part of the text that is spoken as one word, or a mark.
struct SpokenUnit {
  size_t begin = 0;  // characters of the prepared text
  size_t end = 0;
  std::string kana;  // katakana, or a mark that kana texts have; empty: only divides words
  bool mark = false;
  bool joins = true;  // may be a part of a word of the list
};

std::string Utf8(std::u32string_view text);

// Drops the reading in brackets behind the word that it is of: 漢字（かんじ）.
void DropReadings(std::u32string_view text, std::vector<SpokenUnit>& units);

// Makes one unit of those that are a word of the list together, the longest first.
std::vector<SpokenUnit> JoinWords(std::u32string_view text, std::vector<SpokenUnit> units,
                                  const JapaneseWords& words);

// The text in kana of the units, and the units of its bytes.
struct KanaText {
  std::string kana;
  std::vector<size_t> units;
};

KanaText WriteKana(const std::vector<SpokenUnit>& units);

}  // namespace millrace::models
