#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::models {

// The part of a sentence up to a pause, and the mark of the pause: "," "." ":" ";" "?" "!" or "".
struct Clause {
  std::string text;
  std::string mark;

  friend bool operator==(const Clause&, const Clause&) = default;
};

// espeak-ng reads at most 1000 bytes of a line at a time.
inline constexpr size_t kMaxClauseBytes = 900;

// Splits a text into lines that espeak-ng reads whole, cut at spaces where there are any; none if
// the text is blank.
std::vector<std::string_view> CutForEspeak(std::string_view text);

// Splits a sentence where espeak-ng pauses: at a mark before white space or the end. A full stop
// within the sentence is that of an abbreviation. Control characters become spaces, and espeak-ng's
// [[ ]] is neutralised; a clause too long for one line of espeak-ng is cut between words.
// has_phonemes: [[ ]] has espeak-ng's own mnemonics, which stay as they are.
std::vector<Clause> SplitClauses(std::string_view sentence, bool has_phonemes = false);

}  // namespace millrace::models
