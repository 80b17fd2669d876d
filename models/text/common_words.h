#pragma once

#include <array>
#include <string_view>

namespace millrace::models {

// Everyday words of a language: names of things, greetings, words of user interfaces and of
// grammar. They often stand alone, and letters say little of short ones. A word that several
// languages have is listed for each of them.
struct CommonWords {
  std::string_view language;  // BCP 47
  std::string_view words;     // separated by spaces
};

extern const std::array<CommonWords, 19> kCommonWords;

}  // namespace millrace::models
