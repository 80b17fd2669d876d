#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/text/phoneme_text.h"

namespace millrace::models {

// A word of a sentence and its phonemes when spoken alone.
struct WordAlone {
  size_t begin = 0;  // bytes of the sentence
  size_t end = 0;
  std::string phonemes;  // may have spaces: "1984"
};

// Finds where each word is spoken in the phonemes of a sentence: the alignment with the least
// difference from how the words sound alone. Words may be spoken together, and one may become
// several between spaces; a word without any sound belongs to the word before it, else to the one
// after it. Marks and spaces around a word are left out. Time and memory grow with the product of
// both lengths; from four million on all words are one.
std::vector<PhonemeWord> AlignWords(std::span<const WordAlone> words, std::string_view phonemes);

}  // namespace millrace::models
