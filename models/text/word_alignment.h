#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/text/phoneme_text.h"

namespace millrace::models {

// A word of a sentence, and how it sounds on its own.
struct WordAlone {
  size_t begin = 0;  // bytes of the sentence
  size_t end = 0;
  std::string phonemes;  // may have spaces: "1984"
};

// Where in the phonemes of a sentence each of its words is spoken: the alignment with the least
// that differs from how the words sound alone. Words may be spoken together, and one may be several
// between spaces; a word of which nothing is heard is counted to the one before it, else to the one
// behind. Marks and spaces around a word are left out. Time and memory grow with the product of
// both lengths; from four million on all words are one.
std::vector<PhonemeWord> AlignWords(std::span<const WordAlone> words, std::string_view phonemes);

}  // namespace millrace::models
