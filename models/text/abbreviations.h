#pragma once

#include <string_view>

namespace millrace::models {

// What a full stop after a word means.
enum class Abbreviation {
  kNone,
  kAlways,         // never ends a sentence by itself: "Dr.", "Sr."
  kUnlessStarter,  // ends one only before a word that usually starts one: "etc.", "Ltd."
  kBeforeNumber,   // an abbreviation when a number follows: "No. 5", "p. 42"
};

// Looks up the word before a full stop, without the stop; upper and lower case are the same.
// Those of all languages together: each has few that are ordinary words of another.
// Thread-safe.
Abbreviation FindAbbreviation(std::string_view word);

// Whether a capitalised word is one that usually starts a sentence ("The", "Ele"), so that a stop
// before it that could be of an abbreviation ("U.S.", "etc.") ends the sentence.
bool IsSentenceStarter(std::string_view word);

}  // namespace millrace::models
