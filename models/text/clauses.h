#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::models {

// A piece of a sentence up to a pause, and the mark that makes it: "," "." ":" ";" "?" "!" or "".
struct Clause {
  std::string text;
  std::string mark;

  friend bool operator==(const Clause&, const Clause&) = default;
};

// espeak-ng reads at most 1000 bytes of a line at a time.
inline constexpr size_t kMaxClauseBytes = 900;

// A text as the lines that espeak-ng reads whole, cut at spaces where there are any; none when it
// is blank.
std::vector<std::string_view> CutForEspeak(std::string_view text);

// Cuts a sentence where espeak-ng makes a pause: at a mark that is followed by white space or the
// end. A full stop within the sentence is that of an abbreviation. Control characters become spaces
// and espeak-ng's [[ ]] loses its meaning; a clause too long for one line of espeak-ng is cut at a
// word.
std::vector<Clause> SplitClauses(std::string_view sentence);

}  // namespace millrace::models
