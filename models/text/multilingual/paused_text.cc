#include "models/text/multilingual/paused_text.h"

#include <utf8proc.h>

#include <cstddef>
#include <utility>

#include "models/text/characters.h"
#include "models/text/sign_names.h"
#include "models/text/splitting_language.h"
#include "models/text/unicode.h"

namespace millrace::models {
namespace {

bool IsDigitOfAnyScript(char32_t c) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(c)) == UTF8PROC_CATEGORY_ND;
}

// Returns what Kokoro reads for a mark; empty for other characters.
constexpr SignName<std::string_view> kPausedMarks[] = {
    {U";", ";"}, {U":", ":"}, {U",", ","}, {U".।॥", "."}, {U"!", "!"},  {U"?", "?"},  {U"¡", "¡"},
    {U"¿", "¿"}, {U"—", "—"}, {U"…", "…"}, {U"\"", "\""}, {U"“«", "“"}, {U"”»", "”"}, {U"(", "("},
    {U")", ")"}, {U"[", "["}, {U"]", "]"}, {U"{", "{"},   {U"}", "}"}};

std::string_view MarkOf(char32_t c) { return NameOfSign(kPausedMarks, c); }

class Divider {
 public:
  Divider(std::string_view text, bool ends) : characters_(DecodeCharacters(text)), ends_(ends) {
    for (size_t i = 0; i < characters_.size(); ++i) {
      if (!IsBlank(At(i)) && MarkOf(At(i)).empty()) words_end_ = i + 1;
    }
  }

  std::vector<PausedText> Run() {
    bool blank = false;
    for (size_t i = 0; i < characters_.size(); ++i) {
      const Character& c = characters_[i];
      if (IsBlank(c.value)) {
        blank = true;
        continue;
      }
      if (StopsAbbreviation(i)) continue;
      const std::string_view mark = MarkAt(i);
      const bool in_marks = !piece_.marks.empty() || piece_.text.empty();
      if (!mark.empty()) {
        if (std::exchange(blank, false)) piece_.marks += ' ';
        piece_.marks += mark;
        continue;
      }
      if (std::exchange(blank, false)) (in_marks ? piece_.marks : piece_.text) += ' ';
      if (!piece_.marks.empty()) pieces_.push_back(std::exchange(piece_, {}));
      piece_.text += c.bytes;
    }
    if (blank) piece_.marks += ' ';
    if (piece_ != PausedText()) pieces_.push_back(std::move(piece_));
    return std::move(pieces_);
  }

 private:
  // Returns 0 before the beginning and after the end, which count as blank.
  char32_t At(size_t i) const { return i < characters_.size() ? characters_[i].value : 0; }

  std::string_view MarkAt(size_t i) const {
    const char32_t c = At(i);
    const char32_t before = At(i - 1);
    const char32_t behind = At(i + 1);
    const bool in_number = IsDigitOfAnyScript(before) && IsDigitOfAnyScript(behind);
    if ((c == ',' || c == ':') && in_number) return {};
    if (c == U'–' && IsBlank(before) && IsBlank(behind)) return "—";
    const bool in_word = !IsBlank(behind) && MarkOf(behind).empty();
    if (c == '.' && in_word) return {};
    return MarkOf(c);
  }

  // Returns true if a full stop here belongs to an abbreviation or an initial. espeak-ng knows
  // these without it, and does not pause there.
  bool StopsAbbreviation(size_t i) const {
    if (At(i) != '.' || At(i - 1) == '.' || At(i + 1) == '.') return false;
    if (!IsBlank(At(i + 1)) && MarkOf(At(i + 1)).empty()) return false;
    if (ends_ && i >= words_end_) return false;
    // piece_ ends with the word before.
    const std::string_view text = piece_.text;
    if (!piece_.marks.empty() || text.empty()) return false;
    const std::string_view word = text.substr(text.rfind(' ') + 1);
    const bool initial = CountCodePoints(word) == 1 && !IsDigitOfAnyScript(At(i - 1));
    if (initial || word.find('.') != std::string_view::npos) return true;
    const Abbreviation abbreviation = SplittingLanguageOf({}).Find(word);
    if (abbreviation != Abbreviation::kBeforeNumber) return abbreviation != Abbreviation::kNone;
    size_t next = i + 1;
    while (next < characters_.size() && IsBlank(At(next))) ++next;
    return IsDigitOfAnyScript(At(next));
  }

  const std::vector<Character> characters_;
  const bool ends_;
  size_t words_end_ = 0;  // behind it are marks and blanks alone
  PausedText piece_;
  std::vector<PausedText> pieces_;
};

}  // namespace

std::vector<PausedText> DivideAtMarks(std::string_view text, bool ends) {
  return Divider(text, ends).Run();
}

}  // namespace millrace::models
