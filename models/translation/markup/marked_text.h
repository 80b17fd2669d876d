#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::translation {

// Markup at a place of a text: it begins or ends a stretch, or stands alone.
struct MarkEvent {
  enum class Kind : unsigned char { kOpen, kClose, kAlone };

  size_t at = 0;  // byte of the text
  Kind kind = Kind::kAlone;
  std::string markup;
};

// A stretch of a text in whose place something else is put out.
struct KeptSpan {
  size_t begin = 0;
  size_t end = 0;
  std::string becomes;  // as it is put out
  // The text that a model reads in its place, in static storage; nullopt: a stand-in.
  std::optional<std::string_view> reads = {};
  bool returns = true;  // it comes out again; else what a model makes of what it reads does
};

// A character that its source writes in another way than Escaped does, such as &eacute;.
struct Spelling {
  size_t begin = 0;
  size_t end = 0;
  std::string written;
};

// Text that was read out of markup. Marks open and close like brackets; one may be open at the
// beginning or the end, when it goes on in the text before or behind.
struct MarkedText {
  std::string text = {};
  std::vector<MarkEvent> events = {};    // in reading order
  std::vector<KeptSpan> kept = {};       // in order, without overlap; no event stands within one
  std::vector<Spelling> spellings = {};  // in order, without overlap
  bool is_html = false;                  // what is put out is escaped
};

// Returns the text escaped for its format.
std::string Escaped(std::string_view text, bool is_html);
// A stretch of the text, which divides no character, as its source wrote it.
std::string Written(const MarkedText& marked, size_t begin, size_t end);
// Returns true if markup is white space in its format, such as a line break or &nbsp;
bool IsWrittenSpace(std::string_view markup);
// Adds markup to what was put out, where the text since the last markup begins at `text`. A line
// break, or another space that was written as markup, takes the place of the text's space before
// it.
void PutMarkup(std::string_view markup, size_t& text, std::string& out);
// The text put out as it was read: with its markup, byte for byte.
std::string Untouched(const MarkedText& marked);

// Cuts a marked text into one piece after another. The text must outlive it.
class MarkedTextCutter {
 public:
  explicit MarkedTextCutter(const MarkedText& marked) : marked_(marked) {}

  size_t at() const { return at_; }
  // The piece up to the byte `end`, not before at() nor within what is kept. What closes there
  // belongs to the piece, what opens there to the next; the end of the text takes everything.
  MarkedText Take(size_t end);

 private:
  const MarkedText& marked_;
  size_t at_ = 0;
  size_t next_event_ = 0;
  size_t next_kept_ = 0;
  size_t next_spelling_ = 0;
};

}  // namespace millrace::translation
