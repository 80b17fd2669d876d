#include "models/text/clauses.h"

#include <utf8proc.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "models/core/utf8.h"
#include "models/text/characters.h"
#include "models/text/sign_names.h"
#include "models/text/trim.h"

namespace millrace::models {
namespace {

// Returns true for quotes and brackets that may be between a mark and the space after it.
bool MayFollowMark(char32_t c) {
  const auto category = utf8proc_category(static_cast<utf8proc_int32_t>(c));
  return category == UTF8PROC_CATEGORY_PE || category == UTF8PROC_CATEGORY_PF ||
         category == UTF8PROC_CATEGORY_PI || c == '"' || c == '\'';
}

constexpr SignName<char> kClauseMarks[] = {{U",、，", ','}, {U".。", '.'}, {U":：", ':'},
                                           {U";；", ';'},   {U"?？", '?'}, {U"!！", '!'},
                                           {U"…", '~'}};

// Returns the pause that a punctuation character means; 0 for others. A '.' may turn out to be an
// abbreviation's.
char MarkOf(char32_t c) { return NameOfSign(kClauseMarks, c); }

// Marks of East Asian text are not followed by a space.
constexpr char32_t kFirstEastAsian = 0x3000;

struct Boundary {
  size_t end;  // index after its last character
  std::string mark;
};

// Returns the boundary that begins at the mark at index i, if it is one: marks and closers, then a
// space or the end.
std::optional<Boundary> FindBoundary(const std::vector<Character>& points, size_t i) {
  char mark = 0;
  size_t dots = 0;
  bool needs_space = true;
  size_t end = i;
  for (; end < points.size(); ++end) {
    const char next = MarkOf(points[end].value);
    if (next == 0) {
      if (MayFollowMark(points[end].value)) continue;
      break;
    }
    if (next == '.') ++dots;
    // "?!" is a question; in "etc.," and "wait...!" the dots yield.
    if (mark == 0 || ((mark == '.' || mark == '~') && next != '.' && next != '~')) mark = next;
    needs_space = needs_space && points[end].value < kFirstEastAsian;
  }
  const bool last =
      std::all_of(points.begin() + static_cast<ptrdiff_t>(end), points.end(),
                  [](const Character& c) { return IsBlank(c.value) || MayFollowMark(c.value); });
  if (needs_space && !last && !IsBlank(points[end].value)) return std::nullopt;
  if (mark == '~' || (mark == '.' && dots > 1)) return Boundary{end, last ? "" : ","};
  if (mark == '.' && !last && needs_space) return std::nullopt;
  return Boundary{end, std::string(1, mark)};
}

bool IsSpacedDash(const std::vector<Character>& points, size_t i) {
  return (points[i].value == 0x2013 || points[i].value == 0x2014) && i > 0 &&
         i + 1 < points.size() && IsBlank(points[i - 1].value) && IsBlank(points[i + 1].value);
}

// Appends a text, cut into lines that espeak-ng reads whole; the last line gets the mark.
void AddClause(const std::string& text, std::string mark, std::vector<Clause>& clauses) {
  for (const std::string_view line : CutForEspeak(text)) clauses.push_back({std::string(line), ""});
  if (!Trim(text).empty()) clauses.back().mark = std::move(mark);
}

}  // namespace

std::vector<std::string_view> CutForEspeak(std::string_view text) {
  std::vector<std::string_view> lines;
  std::string_view rest = Trim(text);
  while (rest.size() > kMaxClauseBytes) {
    size_t cut = rest.rfind(' ', kMaxClauseBytes);
    if (cut == std::string_view::npos || cut == 0) {
      cut = kMaxClauseBytes;
      while (IsContinuationByte(rest[cut])) --cut;
    }
    lines.push_back(rest.substr(0, cut));
    rest = TrimLeft(rest.substr(cut));
  }
  if (!rest.empty()) lines.push_back(rest);
  return lines;
}

std::vector<Clause> SplitClauses(std::string_view sentence, bool has_phonemes) {
  const std::vector<Character> points = DecodeCharacters(sentence);
  std::vector<Clause> clauses;
  std::string text;
  for (size_t i = 0; i < points.size(); ++i) {
    if (has_phonemes && points[i].value == '[') {
      bool closed = false;
      for (; i < points.size() && !closed; ++i) {
        closed = points[i].value == ']' && text.ends_with(']');
        text += points[i].bytes;
      }
      --i;
      continue;
    }
    if (IsSpacedDash(points, i)) {
      AddClause(std::exchange(text, ""), ";", clauses);
      continue;
    }
    if (MarkOf(points[i].value) != 0) {
      if (const auto boundary = FindBoundary(points, i)) {
        for (; i < boundary->end; ++i) text += points[i].bytes;
        --i;
        AddClause(std::exchange(text, ""), boundary->mark, clauses);
        continue;
      }
    }
    if (IsBlank(points[i].value)) {
      text += ' ';
    } else {
      if (points[i].value == '[' && text.ends_with('[')) text += ' ';
      text += points[i].bytes;
    }
  }
  AddClause(text, "", clauses);
  return clauses;
}

}  // namespace millrace::models
