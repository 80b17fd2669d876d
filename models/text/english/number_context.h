#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "models/text/english/spoken_word.h"

namespace millrace::models {

// The context of a number, as far as it changes how the number is read.
struct NumberContext {
  std::string_view previous;  // the word before, in lower case
  bool label = false;      // letters and hyphens right behind the number belong to it: "seat 12A"
  bool article = false;    // a noun is to come: "a 5 km run"
  bool telephone = false;  // the sentence speaks of calling somebody
  bool code = false;       // the number is a name: "the PIN is 4821"
  bool electric = false;   // the sentence speaks of volts or watts
  bool versions = false;   // the sentence speaks of versions
};

// The sentence so far, as it changes how all numbers in it are read.
struct ContextSoFar {
  bool calling = false;   // a word before speaks of a telephone
  bool electric = false;  // a word before is a volt or a watt
  bool isotopes = false;  // a word before speaks of isotopes
  bool labels = false;    // a number before is a name with a letter, as "12A"
  bool report = false;    // it is a weather report for pilots
  bool versions = false;  // a word before speaks of versions
};

// Finds the context of the number at `at`, before which `words` were read. previous: the last of
// them, in lower case; the context has a view of it. joined: the number
// before ends at `at`, as the "3" of "3x4". Thread-safe; constant time.
NumberContext FindNumberContext(std::string_view text, size_t at, std::span<const SpokenWord> words,
                                const std::string& previous, bool joined,
                                const ContextSoFar& so_far);

// Returns true for an article or a word like it, such as "every"; adjacent: also for words that are
// like one only right before what they belong to, such as "his".
bool IsArticle(std::string_view written, bool adjacent);

}  // namespace millrace::models
