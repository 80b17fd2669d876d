#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace::translation {

// Markup at a place of a text: it begins or ends a span, or stands alone.
struct MarkEvent {
  enum class Kind : unsigned char { kOpen, kClose, kAlone };

  size_t at = 0;  // byte of the text
  Kind kind = Kind::kAlone;
  std::string markup;
};

// A span of a text that the output has as `becomes`, whatever the model makes of the text.
struct KeptSpan {
  size_t begin = 0;
  size_t end = 0;
  std::string becomes;  // in the format of the source
  // The text that a model reads in its place, in static storage; nullopt: a stand-in. A number is
  // found in a translation as a stand-in is.
  std::optional<std::string_view> reads = {};
  bool returns = true;  // false: the output has the model's translation of `reads` instead
};

// A character that its source writes in another way than Escaped does, such as &eacute;.
struct Spelling {
  size_t begin = 0;
  size_t end = 0;
  std::string written;
};

// Text without its markup. Marks nest like brackets; a mark may be open at the beginning or the end
// if it continues in the text before or after.
struct MarkedText {
  std::string text = {};
  std::vector<MarkEvent> events = {};    // in reading order
  std::vector<KeptSpan> kept = {};       // in order, without overlap; no event is inside one
  std::vector<Spelling> spellings = {};  // in order, without overlap
  bool is_html = false;                  // the output is escaped
};

// Returns the text escaped for its format.
std::string Escaped(std::string_view text, bool is_html);
// Returns a part of the text as its source wrote it. The part must not divide a character.
std::string Written(const MarkedText& marked, size_t begin, size_t end);
// A space that no reader sees, where a line may break.
inline constexpr char32_t kZeroWidthSpace = 0x200B;
// The first character of the scripts whose words have such a space between them, or nothing. From
// there on up it says nothing to a reader of another script.
inline constexpr char32_t kThai = 0x0E00;
// Returns true if markup is white space in its format, such as a line break, &nbsp;, a zero width
// space or an escaped line break.
bool IsWrittenSpace(std::string_view markup);
// Appends markup to `out`, in which the text since the last markup begins at `text`, and sets
// `text` to the new end. Markup that is white space, such as a line break, replaces a space right
// before it in that text.
void PutMarkup(std::string_view markup, size_t& text, std::string& out);
// Returns the text as its source wrote it, with its markup, byte for byte.
std::string Untouched(const MarkedText& marked);

// Cuts a marked text into consecutive pieces. The text must outlive it.
class MarkedTextCutter {
 public:
  explicit MarkedTextCutter(const MarkedText& marked) : marked_(marked) {}

  size_t at() const { return at_; }
  // Returns the piece from at() to the byte `end`, which must not be before at() or inside a kept
  // span. A mark that closes at `end` belongs to this piece, any other mark there to the next one.
  // The last piece takes everything.
  MarkedText Take(size_t end);
  // As Take, for white space. Markup at `end` that is white space belongs to this piece, because it
  // replaces the space before it.
  MarkedText TakeSpace(size_t end);

 private:
  const MarkedText& marked_;
  size_t at_ = 0;
  size_t next_event_ = 0;
  size_t next_kept_ = 0;
  size_t next_spelling_ = 0;
};

}  // namespace millrace::translation
