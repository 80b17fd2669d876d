#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "models/text/ascii.h"
#include "models/text/trim.h"
#include "models/text/unicode.h"
#include "models/translation/markup/block_builder.h"
#include "models/translation/markup/html_elements.h"
#include "models/translation/markup/html_entities.h"
#include "models/translation/markup/html_tag.h"
#include "models/translation/markup/markdown_blocks.h"
#include "models/translation/markup/markdown_lines.h"
#include "models/translation/markup/markdown_spans.h"

namespace millrace::translation {
namespace {

// Code within a line is at most this long, which keeps the time linear.
constexpr size_t kLongestCode = 2048;

class MarkdownReader {
 public:
  explicit MarkdownReader(std::string_view text) : text_(text), blocks_(text), spans_(text) {}

  std::vector<MarkedBlock> Run() {
    FindDefinitions();
    const size_t front_matter = FrontMatterEnd(text_);
    break_ = text_.substr(0, front_matter);
    for (size_t at = front_matter; at < text_.size();) {
      if (const size_t end = blocks_.EndOf(at, was_blank_); end > at) {
        Divide(text_.substr(at, end - at));
        was_blank_ = paragraph_ = in_table_ = in_options_ = false;
        at = end;
        continue;
      }
      const std::string_view line = LineAt(text_, at);
      const size_t end = IsCode(line) ? at + line.size() : spans_.LineEnd(at);
      const size_t next = NextLine(text_, end);
      next_line_ = LineAt(text_, next);
      Line(text_.substr(at, end - at), text_.substr(end, next - end));
      at = next;
    }
    out_.Divide(break_);
    return out_.TakeBlocks();
  }

 private:
  // Returns true for a line of code that is indented.
  bool IsCode(std::string_view line) const {
    return was_blank_ && IndentOf(line) >= (in_list_ ? list_indent_ : 0) + 4;
  }

  void Line(std::string_view line, std::string_view line_break) {
    const bool after_blank = was_blank_;
    const bool code = IsCode(line);
    was_blank_ = models::Trim(line).empty();
    if (was_blank_) in_table_ = false;
    in_options_ = in_options_ && IsDirectiveOption(line);
    if (was_blank_ || code || in_options_ || IsRule(line) || IsTableRule(line) ||
        IsDefinition(line)) {
      in_table_ = in_table_ || IsTableRule(line);
      was_blank_ = was_blank_ || code;
      Divide(line);
      break_ = line_break;
      paragraph_ = false;
      return;
    }
    const size_t directive = DirectiveEnd(line);
    const size_t prefix = directive > 0 ? directive : PrefixEnd(line);
    in_options_ = directive > 0 && line.find(":::{") != std::string_view::npos;
    const bool table =
        in_table_ || IsTableRule(next_line_) || models::TrimLeft(line).starts_with('|');
    if (prefix > 0 || !paragraph_ || table) {
      Divide(line.substr(0, prefix));
      UpdateList(line, prefix, directive > 0, after_blank);
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
    const bool heading = prefix > 0 && models::TrimLeft(line)[0] == '#';
    paragraph_ = !hard && !table && directive == 0 && !heading;
    was_blank_ = heading;  // below it may be code as behind a blank line
  }

  // Learns from a line how far those below are indented that belong to the same item of a list, or
  // to the same directive.
  void UpdateList(std::string_view line, size_t prefix, bool is_directive, bool after_blank) {
    const size_t indent = IndentOf(line);
    const std::string_view mark = models::TrimLeft(BehindQuoteMarks(line.substr(0, prefix)));
    const bool is_item = !mark.empty() && mark[0] != '#';
    if (is_directive) {
      in_list_ = HoldsIndentedLines(line) || (in_list_ && indent > 0);
      if (HoldsIndentedLines(line)) list_indent_ = indent + 4;
    } else if (is_item) {
      in_list_ = true;
      list_indent_ = indent + prefix - LeadingBlanks(line);
    } else if (after_blank || prefix > 0) {
      in_list_ = indent > 0 && in_list_;
      list_indent_ = std::min(list_indent_, indent);
    }
  }

  static size_t LeadingBlanks(std::string_view line) {
    return std::min(line.find_first_not_of(" \t"), line.size());
  }

  void Divide(std::string_view markup) {
    break_ += markup;
    out_.Divide(break_);
    break_.clear();
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
        if (!tags.Read(at, tag)) return at;
        if (StaysAsItIs(tag)) return std::max(tags.ElementEnd(tag), tag.end);
        return std::max(tags.NoteMarkEnd(at, tag), tag.end);
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
      case '+':
        return EmphasisEnd(at);
      case '{':
      case '%':
        return CommentEnd(at);
      default:
        return at;
    }
  }

  void Markup(size_t at, size_t end, HtmlTagReader& tags) {
    const std::string_view markup = line_.substr(at, end - at);
    HtmlTag tag;
    switch (line_[at]) {
      case '\\':
        return Escape(at, markup);
      case '`':
      case '$':
        return out_.Keep(markup);
      case '!':
      case '{':
      case '%':
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
        if (StaysAsItIs(tag)) {
          // A tag alone is the name of an element, in a sentence about it.
          return tag.end == end || IsInlineElement(tag.name) ? out_.Keep(markup)
                                                             : out_.Divide(markup);
        }
        if (tag.end < end) return out_.Alone(markup);
        // Elements that separate blocks divide words that touch them.
        if (IsBlockElement(tag.name) && !IsUntouchedElement(tag.name)) return out_.Divide(markup);
        if (tag.is_empty) return out_.Alone(markup);
        if (markup.find_first_of(":@") < markup.find_first_of(" =")) return out_.Keep(markup);
        return tag.closes ? out_.Close(tag.name, markup) : out_.Open(tag.name, markup);
      default:
        return CanClose(at) && out_.IsOpen(markup) ? out_.Close(markup, markup)
                                                   : out_.Open(markup, markup);
    }
  }

  // Takes an escaped sign: the marks of a sentence are those of any other, and signs around words
  // stay around them: \*very old\*.
  void Escape(size_t at, std::string_view markup) {
    constexpr std::string_view kMarks = ".,;:!?-'\"/&%+=";
    constexpr std::string_view kAround = "*_~";
    const char sign = markup[1];
    if (kMarks.find(sign) != std::string_view::npos)
      return out_.Character(markup.substr(1), markup);
    const bool in_name = sign == '_' && at > 0 && models::IsAsciiAlnum(line_[at - 1]) &&
                         models::IsAsciiAlnum(models::ByteAt(line_, at + markup.size()));
    if (in_name) return out_.Character(markup.substr(1), markup);
    if (kAround.find(sign) == std::string_view::npos) return out_.Keep(markup);
    if (out_.IsOpen(markup)) return out_.Close(markup, markup);
    const size_t end = at + markup.size();
    const bool opens = models::IsWordCharacter(models::DecodeAt(line_, end).value) &&
                       (at == 0 || !models::IsWordCharacter(models::DecodeBefore(line_, at).value));
    const bool closes = line_.substr(0, end + kLongestCode).find(markup, end) != line_.npos;
    opens&& closes ? out_.Open(markup, markup) : out_.Keep(markup);
  }

  // Returns the end of a comment of MDX, {/* note */}, or of several words of Obsidian, %%a note%%;
  // `at` if there is none.
  size_t CommentEnd(size_t at) const {
    if (constexpr std::string_view kMark = "%%"; line_.substr(at, 2) == kMark) {
      const size_t inner = at + kMark.size();
      const size_t close = line_.substr(0, inner + kLongestCode).find(kMark, inner);
      const bool begins = at == 0 || line_[at - 1] == ' ';
      if (close == std::string_view::npos || !begins ||
          models::Trim(line_.substr(inner, close - inner)).find(' ') == std::string_view::npos ||
          models::IsAsciiAlnum(models::ByteAt(line_, close + kMark.size())))
        return at;
      return close + kMark.size();
    }
    if (line_.substr(at, 3) != "{/*") return at;
    const size_t close = line_.substr(0, at + kLongestCode).find("*/}", at);
    return close == std::string_view::npos ? at : close + 3;
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
    // Between two amounts there are words, and no sign of a formula.
    const std::string_view formula = line_.substr(inner, close - inner);
    if (mark.size() == 1 && models::IsAsciiDigit(first) &&
        formula.find(' ') != std::string_view::npos &&
        formula.find_first_of("\\^_=+*/<>{") == std::string_view::npos)
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
  static bool IsBetweenWords(char mark) { return mark == '_' || mark == '=' || mark == '+'; }

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
    const bool is_double = line_[at] == '~' || line_[at] == '=' || line_[at] == '+';
    const bool fits = is_double ? end - at == 2 : end - at <= 3;
    const std::string_view mark = line_.substr(at, end - at);
    // **bold***italic*: the innermost emphasis ends before another one begins.
    if (const std::string_view open = out_.innermost();
        !out_.IsOpen(mark) && mark.starts_with(open) && !open.empty() && CanClose(at))
      return at + open.size();
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
  MarkdownBlocks blocks_;
  MarkdownSpans spans_;
  std::string_view line_;              // the current line
  const char* plain_until_ = nullptr;  // points into the text; see IsPlain
  std::string_view next_line_;         // the next line
  std::string break_;                  // between the text of the last line and of the next
  std::vector<size_t> counterparts_;   // the other bracket of each; kNone: no counterpart
  std::map<size_t, size_t> closing_;   // the ] of links in the line, and where each link ends
  std::set<std::string> defined_;      // the names of links, in small letters
  bool paragraph_ = false;             // the next line may continue it
  bool was_blank_ = true;
  bool in_list_ = false;
  size_t list_indent_ = 0;  // the column of the text of the last list item
  bool in_table_ = false;
  bool in_options_ = false;  // the next line may be an option of a directive
  BlockBuilder out_{{}};
};

}  // namespace

std::vector<MarkedBlock> ReadMarkdown(std::string_view text) { return MarkdownReader(text).Run(); }

}  // namespace millrace::translation
