#pragma once

#include <string_view>
#include <vector>

namespace millrace::models {

// The meaning of a full stop after a word.
enum class Abbreviation {
  kNone,
  kAlways,         // never ends a sentence by itself: "Dr.", "Sr."
  kUnlessStarter,  // ends one only before a word that usually starts one: "etc.", "Ltd."
  kBeforeNumber,   // an abbreviation when a number follows: "No. 5", "p. 42"
};

// The rules of one language for splitting sentences. Those of all languages hold as well, because
// few of their abbreviations are ordinary words of another language. Constants of the program;
// thread-safe.
struct SplittingLanguage {
  struct Entry {
    std::string_view word;  // in lower case, without its last stop
    Abbreviation kind;
  };

  // Looks up the word before a full stop, without the stop, ignoring case.
  Abbreviation Find(std::string_view word) const;
  // Returns true if a capitalised word usually starts a sentence ("The", "Ele"), so that a stop
  // before it that could belong to an abbreviation ("U.S.", "etc.") ends the sentence.
  bool IsStarter(std::string_view word) const;

  std::vector<Entry> abbreviations;        // sorted by word
  std::vector<std::string_view> starters;  // sorted
  bool ordinal_stops = false;   // a number with a stop may be an ordinal: "am 3. Oktober"
  bool semicolon_asks = false;  // ; is the question mark
};

// Returns the rules for the first subtag of a BCP 47 tag ("de-AT"), or those of all languages for
// other languages and an empty tag.
const SplittingLanguage& SplittingLanguageOf(std::string_view tag);

}  // namespace millrace::models
