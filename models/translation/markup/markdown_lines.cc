#include "models/translation/markup/markdown_lines.h"

#include <algorithm>
#include <string>

#include "models/text/ascii.h"
#include "models/text/trim.h"

namespace millrace::translation {
namespace {

constexpr std::string_view kBlanks = " \t";
constexpr size_t kLongestFootnoteName = 64;

bool OnlyOf(std::string_view line, std::string_view characters) {
  return line.find_first_not_of(characters) == std::string_view::npos;
}

// Returns the end of the mark of an alert, [!NOTE], that begins at `at`, or `at`.
size_t AlertEnd(std::string_view line, size_t at) {
  if (line.substr(at, 2) != "[!") return at;
  size_t end = at + 2;
  while (models::IsAsciiLetter(models::ByteAt(line, end))) ++end;
  return models::ByteAt(line, end) == ']' && end > at + 2 ? end + 1 : at;
}

// Returns where the title of a directive begins whose name in braces is at `at`: {admonition}
// Title. Returns 0 if what follows the name is no title.
size_t TitleBegin(std::string_view line, size_t at) {
  constexpr std::string_view kTitled =
      " {admonition} {attention} {caution} {card} {danger} {dropdown} {error} {grid-item-card} "
      "{hint} {important} {note} {seealso} {sidebar} {tab-item} {tip} {topic} {warning} ";
  const size_t close = line.find('}', at);
  if (close == std::string_view::npos) return 0;
  const std::string name(line.substr(at, close + 1 - at));
  if (kTitled.find(" " + name + " ") == std::string_view::npos) return 0;
  return std::min(line.find_first_not_of(kBlanks, close + 1), line.size());
}

}  // namespace

std::string_view LineAt(std::string_view text, size_t at) {
  const std::string_view line = text.substr(at, text.find('\n', at) - at);
  return line.ends_with('\r') ? line.substr(0, line.size() - 1) : line;
}

size_t NextLine(std::string_view text, size_t at) {
  const size_t end = text.find('\n', at);
  return end == std::string_view::npos ? text.size() : end + 1;
}

bool IsRule(std::string_view line) {
  line = models::Trim(line);
  return line.size() >= 2 &&
         (OnlyOf(line, "= ") || OnlyOf(line, "- ") || OnlyOf(line, "* ") || OnlyOf(line, "_ "));
}

bool IsTableRule(std::string_view line) {
  line = models::Trim(line);
  return line.find('-') != std::string_view::npos && line.find('|') != std::string_view::npos &&
         OnlyOf(line, "|:- \t");
}

std::string_view FenceOf(std::string_view line) {
  line = models::TrimLeft(line);
  const char mark = models::ByteAt(line, 0);
  if (mark != '`' && mark != '~') return {};
  const size_t end = std::min(line.find_first_not_of(mark), line.size());
  // Code within a line may have three backticks, too.
  const bool is_code = mark == '`' && line.find(mark, end) != std::string_view::npos;
  return end >= 3 && !is_code ? line.substr(0, end) : std::string_view();
}

size_t FootnoteEnd(std::string_view line, size_t at) {
  if (line.substr(at, 2) != "[^") return at;
  const std::string_view window = line.substr(0, at + kLongestFootnoteName);
  const size_t end = window.find_first_of("[]", at + 2);
  return models::ByteAt(window, end) == ']' && end > at + 2 ? end + 1 : at;
}

size_t DirectiveEnd(std::string_view line) {
  const size_t begin = std::min(line.find_first_not_of(kBlanks), line.size());
  const std::string_view mark = line.substr(begin, 3);
  if (mark != ":::" && mark != "!!!" && mark != "???" && mark != "===" && mark != "///") return 0;
  size_t end = std::min(line.find_first_not_of(":!?+=/", begin), line.size());
  if (mark == "///" && end == line.size()) return end;
  if (mark != ":::" && models::ByteAt(line, end) != ' ') return 0;
  end = std::min(line.find_first_not_of(kBlanks, end), line.size());
  if (mark == "===") return models::ByteAt(line, end) == '"' ? end : 0;
  if (const size_t title = TitleBegin(line, end); title > 0) return title;
  if (models::ByteAt(line, end) == '{') return line.size();
  while (models::IsAsciiAlnum(models::ByteAt(line, end)) || models::ByteAt(line, end) == '-') ++end;
  if (models::ByteAt(line, end) == '{') return line.size();
  return std::min(line.find_first_not_of(mark == "///" ? " \t|" : kBlanks, end), line.size());
}

bool HoldsIndentedLines(std::string_view directive) {
  constexpr std::string_view kMarks = "!?=";
  return kMarks.find(models::ByteAt(models::TrimLeft(directive), 0)) != std::string_view::npos;
}

bool IsDirectiveOption(std::string_view line) {
  line = models::TrimLeft(line);
  const size_t end = line.find(':', 1);
  return line.starts_with(':') && end != std::string_view::npos && end > 1 &&
         line.substr(0, end).find(' ') == std::string_view::npos &&
         (end + 1 == line.size() || line[end + 1] == ' ');
}

size_t FrontMatterEnd(std::string_view text) {
  const std::string_view mark = models::TrimRight(LineAt(text, 0));
  if (mark != "---" && mark != "+++") return 0;
  const size_t first = NextLine(text, 0);
  if (models::Trim(LineAt(text, first)).empty()) return 0;  // a rule between paragraphs
  for (size_t at = first; at < text.size(); at = NextLine(text, at)) {
    const std::string_view line = models::TrimRight(LineAt(text, at));
    if (line == mark || (mark == "---" && line == "...")) return NextLine(text, at);
  }
  return 0;
}

size_t IndentOf(std::string_view line) {
  size_t columns = 0;
  for (const char c : line) {
    if (c == ' ') {
      ++columns;
    } else if (c == '\t') {
      columns += 4 - columns % 4;
    } else {
      break;
    }
  }
  return columns;
}

size_t PrefixEnd(std::string_view line) {
  size_t end = 0;
  while (true) {
    const size_t at = std::min(line.find_first_not_of(kBlanks, end), line.size());
    const char c = models::ByteAt(line, at);
    const auto blank_at = [&](size_t place) {
      return place >= line.size() || kBlanks.find(line[place]) != std::string_view::npos;
    };
    size_t next = at;
    // A colon begins the definition of a term.
    if (c == '>' || ((c == '-' || c == '*' || c == '+' || c == ':') && blank_at(at + 1))) {
      next = at + 1;
    } else if (const size_t digits = models::DigitsEnd(line, at);
               digits > at && digits - at <= 9 &&
               (models::ByteAt(line, digits) == '.' || models::ByteAt(line, digits) == ')') &&
               blank_at(digits + 1)) {
      next = digits + 1;
    } else if (const size_t alert = AlertEnd(line, at); end > 0 && alert > at) {
      next = alert;
    } else if (const size_t note = FootnoteEnd(line, at);
               note > at && models::ByteAt(line, note) == ':') {
      next = note + 1;
    } else if (c == '#') {
      next = std::min(line.find_first_not_of('#', at), line.size());
      if (next - at > 6 || !blank_at(next)) next = at;
    } else if (end > 0 && c == '[' && models::ByteAt(line, at + 2) == ']' && blank_at(at + 3)) {
      next = at + 3;  // in a task list
    }
    if (next == at) break;
    end = next;
  }
  return end == 0 ? 0 : std::min(line.find_first_not_of(kBlanks, end), line.size());
}

std::string_view BehindQuoteMarks(std::string_view line) {
  while (true) {
    const std::string_view rest = models::TrimLeft(line);
    if (!rest.starts_with('>')) return line;
    line = rest.substr(1);
  }
}

}  // namespace millrace::translation
