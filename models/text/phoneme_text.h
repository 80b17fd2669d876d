#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace millrace::models {

// A written word and where it is in the phonemes.
struct PhonemeWord {
  size_t begin = 0;  // bytes of the text
  size_t end = 0;
  size_t phonemes_begin = 0;  // bytes of the phonemes
  size_t phonemes_end = 0;

  friend bool operator==(const PhonemeWord&, const PhonemeWord&) = default;
};

// The result of a front end for a sentence.
struct PhonemeText {
  std::string phonemes;            // UTF-8; empty when there is nothing to speak
  std::vector<PhonemeWord> words;  // the words that are spoken, in order, without overlap
};

}  // namespace millrace::models
