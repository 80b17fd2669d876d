#include "models/speech/first_clause.h"

#include <cstddef>
#include <string_view>

#include "absl/strings/ascii.h"
#include "models/text/trim.h"

namespace millrace::speech {
namespace {

// With fewer words before the cut the voice seems to stumble; fewer after it are not worth a step.
constexpr size_t kFewestWords = 3;

constexpr std::string_view kClauseMarks[] = {",", ";", ":", "—", "–", "-"};
constexpr std::string_view kClosing[] = {"\"", "'", "”", "’", ")"};

bool IsSpace(char c) { return models::kAsciiSpace.find(c) != std::string_view::npos; }

// Returns true for bytes of letters and digits, false for those of dashes and quotation marks.
bool IsOfWord(char c) {
  const auto byte = static_cast<unsigned char>(c);
  // A UTF-8 sequence that begins with it is hardly ever a letter.
  constexpr unsigned char kPunctuation = 0xE2;
  return absl::ascii_isalnum(byte) || (byte >= 0xC2 && byte != kPunctuation);
}

size_t CountWords(std::string_view text) {
  size_t words = 0;
  bool counted = false;
  for (const char c : text) {
    if (IsSpace(c)) counted = false;
    if (counted || !IsOfWord(c)) continue;
    ++words;
    counted = true;
  }
  return words;
}

// Returns the position after the clause mark at `at` and after what closes a quotation there; 0 if
// there is no mark.
size_t EndOfMark(std::string_view text, size_t at) {
  for (const std::string_view mark : kClauseMarks) {
    if (!text.substr(at).starts_with(mark)) continue;
    // A hyphen or an en dash within a word is no clause mark.
    if ((mark == "-" || mark == "–") && (at == 0 || !IsSpace(text[at - 1]))) return 0;
    size_t end = at + mark.size();
    for (const std::string_view closing : kClosing) {
      if (text.substr(end).starts_with(closing)) end += closing.size();
    }
    // A mark needs a space after it (compare "1,000" and "10:30"), except an em dash.
    const bool ends = end < text.size() && (mark == "—" || IsSpace(text[end]));
    return ends ? end : 0;
  }
  return 0;
}

}  // namespace

void CutFirstClause(std::vector<std::string_view>& units) {
  if (units.empty()) return;
  const std::string_view text = units.front();
  for (size_t at = 0; at < text.size(); ++at) {
    const size_t end = EndOfMark(text, at);
    if (end == 0 || CountWords(text.substr(0, at)) < kFewestWords) continue;
    const std::string_view rest = models::TrimLeft(text.substr(end));
    if (CountWords(rest) < kFewestWords) return;
    units.front() = text.substr(0, end);
    units.insert(units.begin() + 1, rest);
    return;
  }
}

}  // namespace millrace::speech
