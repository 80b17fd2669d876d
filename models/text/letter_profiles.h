#pragma once

#include <array>
#include <string_view>

namespace millrace::models {

// How often a language has its most frequent sequences of one to three letters, and words of it.
struct LetterProfile {
  std::string_view language;  // BCP 47
  // Words separated by spaces: a number L, and behind it the sequences whose probability is
  // exp(-L / 4). '_' is the beginning or the end of a word.
  std::string_view sequences;
  std::string_view words;  // some of its words, separated by spaces
};

extern const std::array<LetterProfile, 19> kLetterProfiles;

}  // namespace millrace::models
