#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "models/text/ascii.h"
#include "models/text/trim.h"
#include "models/text/unicode.h"

namespace millrace::models {

inline bool IsNameByte(char c) { return IsAsciiAlnum(c) || c == '_'; }
inline bool IsQuote(char c) { return c == '"' || c == '\''; }
inline bool IsPathByte(char c) {
  return IsNameByte(c) || c == '.' || c == '-' || c == '~' || c == '+';
}

// The options say which signs of a text are those of placeholders.
struct PatternOptions {
  bool brackets = true;     // [name]; in Markdown it may be a link
  bool guillemets = false;  // «name»; in many languages it is a quotation
};

// A text with patterns such as placeholders, and what all who read them share. Each reader returns
// the end of the pattern that begins at a place; 0 if none begins there. It has the whole text,
// because a pattern also depends on the text before it. Cheap to copy; the text must outlive it.
class PatternText {
 public:
  explicit PatternText(std::string_view text, const PatternOptions& options = {})
      : text_(text), options_(options) {}

  std::string_view text() const { return text_; }
  bool guillemets() const { return options_.guillemets; }

  char At(size_t at) const { return ByteAt(text_, at); }
  bool AtWordStart(size_t at) const {
    if (at == 0) return true;
    const char32_t before = DecodeBefore(text_, at).value;
    return !IsWordCharacter(before) && before != '_' && before != '/' && before != '.' &&
           before != '@' && before != '\\';
  }
  bool AtTokenStart(size_t at) const {
    const auto is_space = [this](size_t place) {
      if (place == 0) return true;
      const char before = text_[place - 1];
      return before == ' ' || (before >= '\t' && before <= '\r');
    };
    return is_space(at) || ((IsQuote(text_[at - 1]) || text_[at - 1] == '(') && is_space(at - 1));
  }
  template <typename Holds>
  size_t RunEnd(size_t at, const Holds& holds, size_t longest = kMaxSpanBytes) const {
    const size_t limit = std::min(text_.size(), at + longest);
    while (at < limit && holds(text_[at])) ++at;
    return at;
  }
  size_t NameEnd(size_t at) const { return RunEnd(at, IsNameByte); }

  // Returns the end of what begins and ends with these marks, 0 if it does not.
  size_t Enclosed(size_t at, std::string_view opening, std::string_view closing) const {
    constexpr size_t kLongest = 1024;
    if (text_.substr(at, opening.size()) != opening) return 0;
    const size_t end = text_.substr(0, at + kLongest).find(closing, at + opening.size());
    return end == std::string_view::npos ? 0 : end + closing.size();
  }

  // Returns true for a name, or for a few words in small letters between spaces: " user name ".
  static bool IsSpacedName(std::string_view inner) {
    constexpr std::ptrdiff_t kMostSpaces = 4;
    const bool is_spaced = inner.size() > 2 && inner.front() == ' ' && inner.back() == ' ';
    inner = Trim(inner);
    if (inner.empty() || IsAsciiDigit(inner.front())) return false;
    const auto is_part = [](char c) { return IsNameByte(c) || c == '.' || c == '-'; };
    if (std::ranges::all_of(inner, is_part)) return IsNameByte(inner.front());
    return is_spaced && std::ranges::count(inner, ' ') + 2 <= kMostSpaces &&
           std::ranges::all_of(
               inner, [&is_part](char c) { return (is_part(c) && !IsAsciiUpper(c)) || c == ' '; });
  }

  // Returns the end of a name between these marks, with or without spaces; 0 if there is none.
  size_t NameBetween(size_t at, std::string_view opening, std::string_view closing) const {
    constexpr size_t kLongest = 64;
    if (text_.substr(at, opening.size()) != opening) return 0;
    const size_t begin = at + opening.size();
    const size_t end = text_.substr(0, at + kLongest).find(closing, begin);
    if (end == std::string_view::npos) return 0;
    return IsSpacedName(text_.substr(begin, end - begin)) ? end + closing.size() : 0;
  }

  // Returns the end of what begins with the ( at `at`, with its pairs of ( and ), in one line; 0:
  // there is none.
  size_t Parentheses(size_t at) const {
    if (At(at) != '(') return 0;
    size_t depth = 0;
    for (const size_t limit = std::min(text_.size(), at + kMaxSpanBytes); at < limit; ++at) {
      if (text_[at] == '\n') return 0;
      if (text_[at] == '(') ++depth;
      if (text_[at] == ')' && --depth == 0) return at + 1;
    }
    return 0;
  }

  // Returns the end of an address or path without the stop, comma or bracket after it.
  size_t Trimmed(size_t begin, size_t end) const {
    constexpr std::string_view kMarks = ".,;:!?'*]";
    while (end > begin) {
      const char last = text_[end - 1];
      const std::string_view all = text_.substr(begin, end - begin);
      const bool unpaired =
          last == ')' && std::ranges::count(all, '(') < std::ranges::count(all, ')');
      if (!unpaired && kMarks.find(last) == std::string_view::npos) break;
      --end;
    }
    return end;
  }

 protected:
  // Placeholders and pieces of code within a sentence are shorter; a bounded look-ahead keeps the
  // time linear.
  static constexpr size_t kMaxSpanBytes = 256;

  std::string_view text_;
  PatternOptions options_;
};

}  // namespace millrace::models
