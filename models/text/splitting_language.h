#pragma once

#include <span>
#include <string_view>

#include "models/text/abbreviations.h"

namespace millrace::models {

// What one language adds to the rules by which all are split into sentences. Constants of the
// program; thread-safe.
struct SplittingLanguage {
  struct Entry {
    std::string_view word;  // in lower case, without its last stop
    Abbreviation kind;
  };

  Abbreviation Find(std::string_view word) const;
  bool IsStarter(std::string_view word) const;

  std::string_view tag;                        // such as "de"
  std::span<const Entry> abbreviations;        // sorted by word
  std::span<const std::string_view> starters;  // sorted
  bool ordinal_stops = false;                  // "am 3. Oktober" is the third
  bool semicolon_asks = false;                 // ; is the question mark
};

// By a BCP 47 tag, of which the first part counts ("de-AT"). Of another language, or of none, the
// rules that all have.
const SplittingLanguage& SplittingLanguageOf(std::string_view tag);

}  // namespace millrace::models
