#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::server {

// A part of the text of a subtitle.
struct CuePiece {
  enum class Kind : unsigned char {
    kText,
    kOpen,   // a tag that has an end
    kClose,  // the end of such a tag
    kAlone,  // any other tag
    kTurn,   // a line break before a line that begins with a dash: another one speaks
  };

  Kind kind = Kind::kText;
  std::string text;  // as the file has it
  size_t open = 0;   // for kClose, the index of its kOpen
};

// The text of a subtitle. Its lines are joined by spaces.
struct CueText {
  std::string prefix;  // tags around the whole text, which stay where they are
  std::string suffix;
  std::vector<CuePiece> pieces;
  std::vector<size_t> lines;  // the lines of each turn
  std::string line_end;       // between lines

  // Returns the text without its tags.
  std::string Visible() const;
};

// Reads the lines of a subtitle, without the end of the last one. line_end: what stands between
// two;
// "\n" is "\r\n" as well.
CueText ReadCueText(std::string_view text, std::string_view line_end = "\n");

// Returns true if a sentence seems to go on from one subtitle in the next: it has no end there, and
// a small letter follows.
bool GoesOn(const CueText& from, const CueText& next);

// Returns the text with these pieces in place of its own, in as many lines of about the same length
// as it had. Fewer where there are fewer spaces.
std::string WriteCueText(const CueText& cue, std::span<const CuePiece> pieces);

}  // namespace millrace::server
