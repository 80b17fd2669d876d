#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace millrace::models {

// A word as it is written, and where it is spoken.
struct PhonemeWord {
  size_t begin = 0;  // bytes of the text
  size_t end = 0;
  size_t phonemes_begin = 0;  // bytes of the phonemes
  size_t phonemes_end = 0;

  friend bool operator==(const PhonemeWord&, const PhonemeWord&) = default;
};

// What a front end makes of a sentence.
struct PhonemeText {
  std::string phonemes;            // UTF-8; empty when there is nothing to speak
  std::vector<PhonemeWord> words;  // those that are spoken, in order; none overlap
};

}  // namespace millrace::models
