#pragma once

#include <string_view>
#include <vector>

#include "models/text/abbreviations.h"

namespace millrace::models {

// The rules of one language for splitting sentences, in addition to those of all languages.
// Constants of the program; thread-safe.
struct SplittingLanguage {
  struct Entry {
    std::string_view word;  // in lower case, without its last stop
    Abbreviation kind;
  };

  Abbreviation Find(std::string_view word) const;
  bool IsStarter(std::string_view word) const;

  std::string_view tag;                    // such as "de"
  std::vector<Entry> abbreviations;        // sorted by word
  std::vector<std::string_view> starters;  // sorted
  bool ordinal_stops = false;   // a number with a stop may be an ordinal: "am 3. Oktober"
  bool semicolon_asks = false;  // ; is the question mark
};

// Returns the rules for the first subtag of a BCP 47 tag ("de-AT"), or rules without additions for
// other languages and an empty tag.
const SplittingLanguage& SplittingLanguageOf(std::string_view tag);

}  // namespace millrace::models
