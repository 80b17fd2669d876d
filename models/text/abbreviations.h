#pragma once

#include <string_view>

namespace millrace::models {

// The meaning of a full stop after a word.
enum class Abbreviation {
  kNone,
  kAlways,         // never ends a sentence by itself: "Dr.", "Sr."
  kUnlessStarter,  // ends one only before a word that usually starts one: "etc.", "Ltd."
  kBeforeNumber,   // an abbreviation when a number follows: "No. 5", "p. 42"
};

// Looks up the word before a full stop, without the stop, ignoring case. The abbreviations of all
// languages are looked up together, because few of them are ordinary words of another language.
// Thread-safe.
Abbreviation FindAbbreviation(std::string_view word);

// Returns true if a capitalised word usually starts a sentence ("The", "Ele"), so that a stop
// before it that could belong to an abbreviation ("U.S.", "etc.") ends the sentence.
bool IsSentenceStarter(std::string_view word);

}  // namespace millrace::models
