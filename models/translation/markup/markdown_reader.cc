#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "models/text/ascii.h"
#include "models/text/trim.h"
#include "models/text/unicode.h"
#include "models/translation/markup/block_builder.h"
#include "models/translation/markup/html_entities.h"
#include "models/translation/markup/html_tag.h"

namespace millrace::translation {
namespace {

constexpr std::string_view kBlanks = " \t";
// Code within a line is at most this long, which keeps the time linear.
constexpr size_t kLongestCode = 2048;
constexpr size_t kLongestFootnoteName = 64;

bool OnlyOf(std::string_view line, std::string_view characters) {
  return line.find_first_not_of(characters) == std::string_view::npos;
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
  return end >= 3 ? line.substr(0, end) : std::string_view();
}

// Returns the end of a footnote's [^name] that begins at `at`, or `at`.
size_t FootnoteEnd(std::string_view line, size_t at) {
  if (line.substr(at, 2) != "[^") return at;
  const std::string_view window = line.substr(0, at + kLongestFootnoteName);
  const size_t end = window.find_first_of(" \t[]", at + 2);
  return models::ByteAt(window, end) == ']' && end > at + 2 ? end + 1 : at;
}

// Returns the end of the mark of an alert, [!NOTE], that begins at `at`, or `at`.
size_t AlertEnd(std::string_view line, size_t at) {
  if (line.substr(at, 2) != "[!") return at;
  size_t end = at + 2;
  while (models::IsAsciiLetter(models::ByteAt(line, end))) ++end;
  return models::ByteAt(line, end) == ']' && end > at + 2 ? end + 1 : at;
}

// Returns the end of the mark of a directive, such as :::note or !!! note, or 0.
size_t DirectiveEnd(std::string_view line) {
  const size_t begin = std::min(line.find_first_not_of(kBlanks), line.size());
  const std::string_view mark = line.substr(begin, 3);
  if (mark != ":::" && mark != "!!!" && mark != "???") return 0;
  size_t end = std::min(line.find_first_not_of(":!?+", begin), line.size());
  if (mark != ":::" && models::ByteAt(line, end) != ' ') return 0;
  end = std::min(line.find_first_not_of(kBlanks, end), line.size());
  if (models::ByteAt(line, end) == '{') return line.size();
  while (models::IsAsciiAlnum(models::ByteAt(line, end)) || models::ByteAt(line, end) == '-') ++end;
  if (models::ByteAt(line, end) == '{') return line.size();
  return std::min(line.find_first_not_of(kBlanks, end), line.size());
}

// Returns the end of the front matter in YAML or TOML that a document begins with; 0: it has none.
size_t FrontMatterEnd(std::string_view text) {
  const auto line_at = [text](size_t at) {
    return models::TrimRight(text.substr(at, text.find('\n', at) - at));
  };
  const std::string_view mark = line_at(0);
  if (mark != "---" && mark != "+++") return 0;
  for (size_t at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at)) {
    const std::string_view line = line_at(++at);
    if (at == mark.size() + 1 && line.empty()) return 0;  // a rule between paragraphs
    if (line == mark || (mark == "---" && line == "..."))
      return std::min(text.find('\n', at), text.size() - 1) + 1;
  }
  return 0;
}

// Returns how far a line is indented, with tabs to every fourth column.
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

// Returns the end of what is before the text of a line: quote marks, a list mark, heading marks.
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

class MarkdownReader {
 public:
  explicit MarkdownReader(std::string_view text) : text_(text) {}

  std::vector<MarkedBlock> Run() {
    FindDefinitions();
    const size_t front_matter = FrontMatterEnd(text_);
    break_ = text_.substr(0, front_matter);
    for (size_t at = front_matter; at < text_.size();) {
      const size_t end = std::min(text_.find('\n', at), text_.size());
      const size_t next = std::min(end + 1, text_.size());
      size_t content = end;
      while (content > at && text_[content - 1] == '\r') --content;
      next_line_ = text_.substr(next, text_.find('\n', next) - next);
      Line(text_.substr(at, content - at), text_.substr(content, next - content));
      at = next;
    }
    out_.Divide(break_);
    return out_.TakeBlocks();
  }

 private:
  void Line(std::string_view line, std::string_view line_break) {
    const bool after_blank = was_blank_;
    was_blank_ = models::Trim(line).empty();
    if (was_blank_) in_table_ = false;
    const bool code = after_blank && IndentOf(line) >= (in_list_ ? list_indent_ : 0) + 4;
    if (InFence(line) || InFormula(line) || was_blank_ || code || IsRule(line) ||
        IsTableRule(line) || IsDefinition(line)) {
      in_table_ = in_table_ || IsTableRule(line);
      was_blank_ = was_blank_ || code;
      Divide(line);
      break_ = line_break;
      paragraph_ = false;
      return;
    }
    const size_t directive = DirectiveEnd(line);
    const size_t prefix = directive > 0 ? directive : PrefixEnd(line);
    const bool table =
        in_table_ || IsTableRule(next_line_) || models::TrimLeft(line).starts_with('|');
    if (prefix > 0 || !paragraph_ || table) {
      Divide(line.substr(0, prefix));
      const bool indented = IndentOf(line) > 0;
      if (prefix > 0 || after_blank) in_list_ = directive == 0 && (prefix > 0 || indented);
      if (prefix > 0 && directive == 0)
        list_indent_ = IndentOf(line) + prefix - LeadingBlanks(line);
    } else {
      out_.Text(break_);
    }
    std::string_view words = line.substr(prefix);
    // A hard line break: two spaces or a backslash.
    const bool hard = words.ends_with("  ") || words.ends_with('\\');
    const size_t end =
        hard ? models::TrimRight(words.substr(0, words.size() - 1)).size() : words.size();
    table ? Cells(words.substr(0, end)) : Words(words.substr(0, end));
    break_ = words.substr(end);
    break_ += line_break;
    paragraph_ = !hard && !table && directive == 0 && models::TrimLeft(line)[0] != '#';
  }

  static size_t LeadingBlanks(std::string_view line) {
    return std::min(line.find_first_not_of(kBlanks), line.size());
  }

  // Returns true if the line is in a formula between lines with $$, or begins, ends or is one.
  bool InFormula(std::string_view line) {
    constexpr std::string_view kMark = "$$";
    line = models::Trim(line);
    if (in_formula_) {
      in_formula_ = !line.ends_with(kMark);
      return true;
    }
    if (!line.starts_with(kMark)) return false;
    const bool whole = line.size() > 2 * kMark.size() && line.ends_with(kMark);
    // The $$ of a formula within a paragraph has its counterpart in the line.
    if (!whole && line.find(kMark, kMark.size()) != std::string_view::npos) return false;
    in_formula_ = !whole;
    return true;
  }

  void Divide(std::string_view markup) {
    break_ += markup;
    out_.Divide(break_);
    break_.clear();
  }

  // Returns true if the line is in a fenced block, or begins or ends one.
  bool InFence(std::string_view line) {
    const std::string_view fence = FenceOf(line);
    if (fence_.empty()) {
      fence_ = fence;
      return !fence.empty();
    }
    if (fence.starts_with(fence_) && models::Trim(line).size() == fence.size()) fence_ = {};
    return true;
  }

  // Returns the name of "[name]: address"; empty: the line is none. A footnote has text instead of
  // the address.
  static std::string_view DefinedName(std::string_view line) {
    line = models::TrimLeft(line);
    if (!line.starts_with('[') || line.starts_with("[^")) return {};
    const size_t close = line.find("]:");
    if (close == std::string_view::npos || line.find('[', 1) < close) return {};
    std::string_view rest = models::Trim(line.substr(close + 2));
    const size_t address =
        rest.starts_with('<') ? rest.find('>') + 1 : std::min(rest.find(' '), rest.size());
    rest = models::TrimLeft(rest.substr(address));
    // Behind the address only a title may stand.
    const bool is_title = rest.empty() || rest[0] == '"' || rest[0] == '\'' || rest[0] == '(';
    return address > 0 && is_title ? line.substr(1, close - 1) : std::string_view();
  }
  static bool IsDefinition(std::string_view line) { return !DefinedName(line).empty(); }

  void FindDefinitions() {
    for (size_t at = text_.find("]:"); at != std::string_view::npos;
         at = text_.find("]:", at + 2)) {
      const size_t from = at - std::min(at, kLongestName);
      const size_t before = text_.substr(from, at - from).rfind('\n');
      if (before == std::string_view::npos && from > 0) continue;
      const size_t line = before == std::string_view::npos ? 0 : from + before + 1;
      const std::string_view name = DefinedName(text_.substr(line, text_.find('\n', at) - line));
      if (!name.empty()) defined_.insert(models::AsciiLower(name));
    }
  }

  void Cells(std::string_view row) {
    size_t begin = 0;
    for (size_t at = 0; at < row.size(); ++at) {
      if (row[at] == '\\') {
        ++at;
      } else if (row[at] == '|') {
        Words(row.substr(begin, at - begin));
        out_.Divide("|");
        begin = at + 1;
      }
    }
    Words(row.substr(begin));
  }

  void Words(std::string_view line) {
    line_ = line;
    closing_.clear();
    FindCounterparts();
    HtmlTagReader tags(line);
    size_t plain = 0;  // where the text begins that was not written yet
    for (size_t at = 0; at < line.size();) {
      const size_t end = MarkupEnd(at, tags);
      if (end == at) {
        ++at;
        continue;
      }
      out_.Text(line.substr(plain, at - plain));
      Markup(at, end, tags);
      at = plain = end;
    }
    out_.Text(line.substr(plain));
  }

  // Returns the end of the markup that begins at `at`, or `at`.
  size_t MarkupEnd(size_t at, HtmlTagReader& tags) {
    switch (line_[at]) {
      case '\\':
        return at + 1 < line_.size() && !models::IsAsciiAlnum(line_[at + 1]) &&
                       line_[at + 1] != ' ' && static_cast<unsigned char>(line_[at + 1]) < 0x80
                   ? at + 2
                   : at;
      case '`':
        return CodeEnd(at);
      case '$':
        return FormulaEnd(at);
      case '!':
        return models::ByteAt(line_, at + 1) == '[' ? LinkEnd(at + 1).second : at;
      case '[':
        if (const size_t note = FootnoteEnd(line_, at); note > at) return note;
        if (const auto [bar, close] = WikiLink(at); close > at)
          return bar < close ? bar + 1 : close + 2;
        if (const size_t name = NameLinkEnd(at); name > at) return name;
        return LinkEnd(at).second > at ? at + 1 : at;
      case ']':
        return closing_.contains(at) ? closing_[at] : at;
      case '<': {
        HtmlTag tag;
        if (line_.substr(at, 4) == "<!--") return std::min(tags.Behind("-->", at), line_.size());
        return tags.Read(at, tag) ? tag.end : at;
      }
      case '&': {
        const std::string_view rest = line_.substr(at);
        std::string character;
        if (const size_t escaped = EscapedTagBytes(rest); escaped > 0) return at + escaped;
        return EntityBytes(rest) > 0 ? at + ReadEntity(rest, character) : at;
      }
      case '*':
      case '_':
      case '~':
      case '=':
        return EmphasisEnd(at);
      default:
        return at;
    }
  }

  void Markup(size_t at, size_t end, HtmlTagReader& tags) {
    const std::string_view markup = line_.substr(at, end - at);
    HtmlTag tag;
    switch (line_[at]) {
      case '\\':
      case '`':
      case '$':
        return out_.Keep(markup);
      case '!':
        return out_.Alone(markup);
      case '&': {
        std::string character;
        if (EscapedTagBytes(markup) > 0) return out_.Keep(markup);
        ReadEntity(markup, character);
        return out_.Character(character, markup);
      }
      case '[': {
        if (FootnoteEnd(line_, at) > at) return out_.Alone(markup);
        if (const auto [bar, wiki_close] = WikiLink(at); bar < wiki_close) {
          closing_[wiki_close] = wiki_close + 2;
          return out_.Open("[", markup);
        }
        const auto [close, behind] = LinkEnd(at);
        if (end > at + 1) return out_.Keep(markup);
        closing_[close] = behind;
        return out_.Open("[", markup);
      }
      case ']':
        return out_.Close("[", markup);
      case '<':
        if (!tags.Read(at, tag)) return out_.Alone(markup);
        // A break of the line divides words that touch it.
        if (tag.name == "br") return out_.Divide(markup);
        if (tag.is_empty) return out_.Alone(markup);
        if (markup.find_first_of(":@") < markup.find_first_of(" =")) return out_.Keep(markup);
        return tag.closes ? out_.Close(tag.name, markup) : out_.Open(tag.name, markup);
      default:
        return CanClose(at) && out_.IsOpen(markup) ? out_.Close(markup, markup)
                                                   : out_.Open(markup, markup);
    }
  }

  size_t CodeEnd(size_t at) {
    if (IsPlain(at)) return at;
    const size_t inner = std::min(line_.find_first_not_of('`', at), line_.size());
    const std::string_view mark = line_.substr(at, inner - at);
    const size_t close = line_.substr(0, inner + kLongestCode).find(mark, inner);
    if (close != std::string_view::npos) return close + mark.size();
    plain_until_ = line_.data() + inner;
    return at;
  }

  // Returns the end of a formula, $x$ or $$x$$, that begins at `at`, or `at`: $5 and $6 are none.
  size_t FormulaEnd(size_t at) const {
    const std::string_view mark = line_.substr(at, 2) == "$$" ? "$$" : "$";
    const size_t inner = at + mark.size();
    const char first = models::ByteAt(line_, inner);
    if (first == 0 || first == ' ' || first == '$') return at;
    const size_t close = line_.substr(0, inner + kLongestCode).find('$', inner);
    if (close == std::string_view::npos || line_.substr(close, mark.size()) != mark ||
        line_[close - 1] == ' ')
      return at;
    const size_t end = close + mark.size();
    return models::IsAsciiAlnum(models::ByteAt(line_, end)) ? at : end;
  }

  // Finds the ] of each [ in the line, and the ) of each (.
  void FindCounterparts() {
    counterparts_.assign(line_.find('[') == std::string_view::npos ? 0 : line_.size(), kNone);
    std::vector<size_t> square;
    std::vector<size_t> round;
    for (size_t at = 0; at < counterparts_.size(); ++at) {
      const char c = line_[at];
      if (c == '\\') {
        ++at;
      } else if (c == '[' || c == '(') {
        (c == '[' ? square : round).push_back(at);
      } else if (std::vector<size_t>& open = c == ']' ? square : round;
                 (c == ']' || c == ')') && !open.empty()) {
        counterparts_[open.back()] = at;
        open.pop_back();
      }
    }
  }

  // Returns the end of a link whose words are its name, so that they stay: [name], [name][].
  // Returns `at` if it is none.
  size_t NameLinkEnd(size_t at) const {
    const size_t close = counterparts_[at];
    if (defined_.empty() || close == kNone || close - at > kLongestName) return at;
    const std::string_view behind = line_.substr(close + 1, 2);
    const bool is_collapsed = behind == "[]";
    if (!is_collapsed && (behind.starts_with('(') || behind.starts_with('['))) return at;
    const std::string name = models::AsciiLower(line_.substr(at + 1, close - at - 1));
    return !defined_.contains(name) ? at : close + (is_collapsed ? 3 : 1);
  }

  // Returns where the | and the ]] of a wiki's link are: [[page|words]]; the place of the ]] twice:
  // it is [[page]]; `at` twice: it is none.
  std::pair<size_t, size_t> WikiLink(size_t at) const {
    const std::pair none(at, at);
    if (line_.substr(at, 2) != "[[") return none;
    const size_t bar = line_.substr(0, at + kLongestName).find_first_of("|[]", at + 2);
    if (bar == std::string_view::npos || bar == at + 2 || line_[bar] == '[') return none;
    const size_t close = line_[bar] == '|' ? line_.find_first_of("|[]", bar + 1) : bar;
    const bool is_link = close != std::string_view::npos && line_.substr(close, 2) == "]]" &&
                         models::ByteAt(line_, close + 2) != '(';
    return is_link ? std::pair(bar, close) : none;
  }

  // Returns where the ] of [words](address) or [words][name] at `at` is, and where the link ends;
  // `at` twice if it is no link.
  std::pair<size_t, size_t> LinkEnd(size_t at) const {
    const size_t close = counterparts_[at];
    if (close == kNone) return {at, at};
    const char next = models::ByteAt(line_, close + 1);
    if (next != '(' && next != '[') return {at, at};
    const size_t end = counterparts_[close + 1];
    return end == kNone ? std::pair(at, at) : std::pair(close, end + 1);
  }

  // Returns true for the marks of emphasis that mark no part of a word.
  static bool IsBetweenWords(char mark) { return mark == '_' || mark == '='; }

  size_t RunEnd(size_t at) const {
    return std::min(line_.find_first_not_of(line_[at], at), line_.size());
  }
  bool CanClose(size_t at) const {
    if (at == 0 || models::IsSpace(models::DecodeBefore(line_, at).value)) return false;
    const models::CodePoint next = models::DecodeAt(line_, RunEnd(at));
    return !IsBetweenWords(line_[at]) || !models::IsWordCharacter(next.value);
  }
  bool CanOpen(size_t at) const {
    const models::CodePoint next = models::DecodeAt(line_, RunEnd(at));
    if (next.bytes == 0 || models::IsSpace(next.value)) return false;
    return !IsBetweenWords(line_[at]) || at == 0 ||
           !models::IsWordCharacter(models::DecodeBefore(line_, at).value);
  }
  size_t EmphasisEnd(size_t at) {
    if (IsPlain(at)) return at;
    const size_t end = RunEnd(at);
    const bool fits = line_[at] == '~' || line_[at] == '=' ? end - at == 2 : end - at <= 3;
    const std::string_view mark = line_.substr(at, end - at);
    // 2*3*4 is a product.
    const bool product = line_[at] == '*' && at > 0 && models::IsAsciiDigit(line_[at - 1]) &&
                         models::IsAsciiDigit(models::ByteAt(line_, end));
    if (fits && !product && ((CanClose(at) && out_.IsOpen(mark)) || CanOpen(at))) return end;
    plain_until_ = line_.data() + end;
    return at;
  }
  // Returns true within a run that is known to be no markup; otherwise each of its characters would
  // search the rest of the line.
  bool IsPlain(size_t at) const { return line_.data() + at < plain_until_; }

  static constexpr size_t kLongestName = 256;
  static constexpr size_t kNone = std::string_view::npos;

  const std::string_view text_;
  std::string_view line_;              // the current line
  const char* plain_until_ = nullptr;  // points into the text; see IsPlain
  std::string_view next_line_;         // the next line
  std::string_view fence_;             // the fence of the current block
  std::string break_;                  // between the text of the last line and of the next
  std::vector<size_t> counterparts_;   // the other bracket of each; kNone: no counterpart
  std::map<size_t, size_t> closing_;   // the ] of links in the line, and where each link ends
  std::set<std::string> defined_;      // the names of links, in small letters
  bool paragraph_ = false;             // the next line may continue it
  bool was_blank_ = true;
  bool in_list_ = false;
  bool in_formula_ = false;
  size_t list_indent_ = 0;  // the column of the text of the last list item
  bool in_table_ = false;
  BlockBuilder out_{{}};
};

}  // namespace

std::vector<MarkedBlock> ReadMarkdown(std::string_view text) { return MarkdownReader(text).Run(); }

}  // namespace millrace::translation
