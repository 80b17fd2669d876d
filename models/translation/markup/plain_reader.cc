#include <algorithm>
#include <span>
#include <vector>

#include "models/core/strings.h"
#include "models/text/ascii.h"
#include "models/text/code_words.h"
#include "models/text/pattern_text.h"
#include "models/text/placeholder.h"
#include "models/text/unicode.h"
#include "models/translation/markup/block_builder.h"
#include "models/translation/markup/csv_row.h"
#include "models/translation/markup/html_elements.h"
#include "models/translation/markup/html_entities.h"
#include "models/translation/markup/latex_command.h"
#include "models/translation/markup/message_format.h"
#include "models/translation/markup/plain_tags.h"
#include "models/translation/markup/written_escapes.h"

namespace millrace::translation {
namespace {

constexpr std::string_view kWideSpace = "\u3000";
constexpr std::string_view kCommand = "\\";  // the name of the marks of a command of LaTeX

class PlainReader {
 public:
  std::vector<MarkedBlock> Run(std::string_view text) {
    size_t read = 0;
    for (size_t line = 0; line < text.size();) {
      const size_t end = std::min(text.find('\n', line), text.size());
      const bool has_return = end > line && text[end - 1] == '\r';
      const std::string_view row = text.substr(line, end - line - (has_return ? 1 : 0));
      if (const std::vector<CsvField> fields = ReadCsvRow(row); !fields.empty()) {
        Read(text.substr(read, line - read), /*number=*/"");
        Row(row, fields);
        read = line + row.size();
      }
      line = end + 1;
    }
    Read(text.substr(read), /*number=*/"");
    return out_.TakeBlocks();
  }

 private:
  // Reads the fields of a row, each by itself.
  void Row(std::string_view row, std::span<const CsvField> fields) {
    constexpr std::string_view kQuote = "\"\"";
    size_t at = 0;
    for (const CsvField& field : fields) {
      out_.Divide(row.substr(at, field.begin - at));
      at = field.begin;
      for (size_t quote = row.find(kQuote, at); quote < field.end; quote = row.find(kQuote, at)) {
        Read(row.substr(at, quote - at), /*number=*/"");
        out_.IsOpen(kQuote) ? out_.Close(kQuote, kQuote) : out_.Open(kQuote, kQuote);
        at = quote + kQuote.size();
      }
      Read(row.substr(at, field.end - at), /*number=*/"");
      at = field.end;
    }
    out_.Divide(row.substr(at));
  }

  // number: what # stands for in the branches of a plural; empty: it is a sign like others.
  void Read(std::string_view text, std::string_view number) {
    size_t at = 0;
    for (const PlainMessage& message : FindMessages(text)) {
      Tagged(text.substr(at, message.line_begin - at), number);
      // Each branch takes the words around the message in.
      const std::string_view before =
          text.substr(message.line_begin, message.begin - message.line_begin);
      const std::string_view behind = text.substr(message.end, message.line_end - message.end);
      at = message.begin;
      for (const PlainMessage::Branch& branch : message.branches) {
        const bool alone = before.empty() && behind.empty();
        // Before the noun a number needs no model, which might move it.
        const bool counts = !branch.number.empty() && text.substr(branch.begin, 2) == "# ";
        const size_t begin = branch.begin + (alone && counts ? 2 : 0);
        const std::string_view words = text.substr(begin, branch.end - begin);
        out_.Divide(text.substr(at, begin - at));
        alone ? Read(words, branch.number) : Tagged(StrCat(before, words, behind), branch.number);
        at = branch.end;
      }
      out_.Divide(text.substr(at, message.end - at));
      at = message.line_end;
    }
    Tagged(text.substr(at), number);
  }

  void Tagged(std::string_view text, std::string_view number) {
    size_t at = 0;
    for (const PlainTag& found : FindTags(text)) {
      const size_t begin = found.paired ? found.begin : TypeBegin(text, at, found);
      Text(text.substr(at, begin - at), number);
      at = found.tag.end;
      const std::string_view markup = text.substr(begin, at - begin);
      if (found.untranslated) {
        out_.Keep(markup);
      } else if (IsParagraphElement(found.tag.name) &&
                 (found.paired || HasNoEndTag(found.tag.name))) {
        out_.Divide(markup);
      } else if (!found.paired) {
        // A tag without a counterpart is a placeholder unless it reads like "if a <b and c> d".
        const bool remark = begin == found.begin && markup.find(' ') != std::string_view::npos &&
                            markup.find('=') == std::string_view::npos && !found.tag.is_empty &&
                            !IsPlaceholderName(text, found.begin, found.tag.end) &&
                            markup.find(" extends ") == std::string_view::npos;
        remark ? out_.Text(markup) : out_.Keep(markup);
      } else if (found.tag.closes) {
        out_.Close(found.tag.name, markup);
      } else {
        out_.Open(found.tag.name, markup);
      }
    }
    Text(text.substr(at), number);
  }

  // Reads text without tags.
  void Text(std::string_view text, std::string_view number) {
    size_t plain = 0;                   // where the text begins that was not written yet
    std::vector<size_t> emphasis_ends;  // where each open emphasis ends
    std::vector<size_t> braces;         // each closes the words of an open command of LaTeX
    const auto take = [&](size_t begin, size_t end) {
      out_.Text(text.substr(plain, begin - plain));
      plain = end;
      return text.substr(begin, end - begin);
    };
    for (size_t at = 0; at < text.size();) {
      const char c = text[at];
      if (c == ' ' || c == '\t' || c == kWideSpace[0]) {
        const size_t end = SpaceEnd(text, at);
        if (const size_t wide = WideSpaceBegin(text, at, end); wide < end)
          out_.Divide(take(wide, end));
        at = end;
      } else if (c == '\\') {
        const LatexCommand command = ReadLatexCommand(text, at);
        if (command.end == 0) {
          at = std::max(Escape(text, at, plain, take), at + 1);
          continue;
        }
        // The space that keeps a reference in the line of its word.
        if (at > plain && text[at - 1] == '~') {
          const std::string_view tie = take(at - 1, at);
          out_.Character("\u00A0", tie);
        }
        const std::string_view written = take(at, command.end);
        if (command.closing > 0) {
          braces.push_back(command.closing);
          out_.Open(kCommand, written);
        } else {
          out_.Keep(written);
        }
        at = command.end;
      } else if (!braces.empty() && at == braces.back()) {
        braces.pop_back();
        out_.Close(kCommand, take(at, at + 1));
        ++at;
      } else if (c == '&') {
        at = Ampersand(text, at, take);
      } else if (IsDoubledApostrophe(text, at)) {
        out_.Character("'", take(at, at + 2));
        at += 2;
      } else if (c == '*' || (c == '\'' && models::ByteAt(text, at + 1) == c)) {
        const size_t end = std::min(text.find_first_not_of(c, at), text.size());
        if (!emphasis_ends.empty() && emphasis_ends.back() == at) {
          emphasis_ends.pop_back();
          const std::string_view mark = take(at, end);
          out_.Close(mark, mark);
        } else if (const size_t close = EmphasisEnd(text, at, end);
                   close > at && (emphasis_ends.empty() || close < emphasis_ends.back())) {
          emphasis_ends.push_back(close);
          const std::string_view mark = take(at, end);
          out_.Open(mark, mark);
        }
        at = end;
      } else if (c == '_' && IsUnderscoreAccelerator(text, at)) {
        out_.Alone(take(at, at + 1));
        ++at;
      } else if (c == '#' && !number.empty()) {
        // Letters that touch it are the ending of an ordinal.
        const size_t end = models::LettersEnd(text, at + 1);
        out_.Keep(take(at, end), end == at + 1 ? number : "");
        at = end;
      } else {
        ++at;
      }
    }
    out_.Text(text.substr(plain));
  }

  // Returns the end of white space of one line that begins at `at`.
  static size_t SpaceEnd(std::string_view text, size_t at) {
    size_t end = at;
    while (true) {
      end = std::min(text.find_first_not_of(" \t", end), text.size());
      if (text.substr(end, kWideSpace.size()) != kWideSpace) break;
      end += kWideSpace.size();
    }
    return std::max(end, at + 1);
  }

  // Returns where the white space [begin, end) begins if it separates, as columns do; else `end`.
  static size_t WideSpaceBegin(std::string_view text, size_t begin, size_t end) {
    const std::string_view space = text.substr(begin, end - begin);
    const char next = models::ByteAt(text, end);
    const bool wide = space.find_first_not_of(' ') != std::string_view::npos || space.size() > 1;
    if (!wide || (space[0] != ' ' && space[0] != '\t' && !space.starts_with(kWideSpace)))
      return end;
    return next == '\n' || next == '\r' ? end : begin;
  }

  // Reads the escape at `at`, if one is there. Returns its end, or `at`. Everything before `plain`
  // is read.
  template <typename Take>
  size_t Escape(std::string_view text, size_t at, size_t plain, const Take& take) {
    if (const std::string_view quote = text.substr(at, 2); quote == "\\\"" || quote == "\\'") {
      const std::string_view taken = take(at, at + 2);
      out_.IsOpen(taken) ? out_.Close(taken, taken) : out_.Open(taken, taken);
      return at + 2;
    }
    const WrittenBreak found = FindWrittenBreak(text, at);
    if (found.end == found.begin) return at;
    const std::string_view written = take(std::max(found.begin, plain), found.end);
    if (found.within_sentence) {
      out_.Text(" ");
      out_.Alone(written);
    } else {
      out_.Divide(written);
    }
    return found.end;
  }

  // Reads an entity, or the mark of an accelerator key: &Open, E&xit.
  template <typename Take>
  size_t Ampersand(std::string_view text, size_t at, const Take& take) {
    const std::string_view rest = text.substr(at);
    std::string character;
    if (const size_t tag = EscapedTagBytes(rest); tag > 0) {
      out_.Keep(take(at, at + tag));
      return at + tag;
    }
    // The colour of a game's words, and an entity that was escaped twice, stay for
    // FindProtectedSpans and as they are.
    if (models::ColourCodeEnd(text, at) > 0) return at + 1;
    constexpr std::string_view kEscaped = "&amp;";
    if (const size_t inner = EntityBytes(
            "&" + std::string(rest.substr(0, 32).substr(std::min(rest.size(), kEscaped.size()))));
        rest.starts_with(kEscaped) && inner > 0) {
      const size_t end = at + kEscaped.size() + inner - 1;
      out_.Keep(take(at, end));
      return end;
    }
    if (EntityBytes(rest) > 0) {
      const size_t bytes = ReadEntity(rest, character);
      if (bytes > 0 && IsOfWords(character, text, at, at + bytes)) {
        out_.Character(character, take(at, at + bytes));
        return at + bytes;
      }
      out_.Keep(take(at, at + EntityBytes(rest)));
      return at + EntityBytes(rest);
    }
    if (IsAccelerator(text, at)) out_.Alone(take(at, at + 1));
    return at + 1;
  }

  // Returns true if a text is longer than the entries of menus, or has the stop that they lack.
  static bool IsSentence(std::string_view text) {
    constexpr std::ptrdiff_t kMostSpaces = 4;
    return std::ranges::count(text, ' ') > kMostSpaces || text.ends_with('!') ||
           (text.ends_with('.') && !text.ends_with(".."));
  }

  // Returns true if the & at `at` marks the key of a menu's entry.
  static bool IsAccelerator(std::string_view text, size_t at) {
    constexpr size_t kLongest = 64;
    constexpr std::string_view kSpaces = " \t\r\n([\"";
    if (!models::IsLetter(models::DecodeAt(text, at + 1).value)) return false;
    size_t begin = at;
    while (begin > 0 && at - begin < kLongest &&
           models::IsLetter(models::DecodeBefore(text, begin).value))
      begin -= models::DecodeBefore(text, begin).bytes;
    if (begin > 0 && kSpaces.find(text[begin - 1]) == std::string_view::npos) return false;
    const bool inside = begin < at;
    // The name of an anchor or a variable, within a sentence or behind a label: Name: &name
    if (!inside && models::IsLower(models::DecodeAt(text, at + 1).value) &&
        (IsSentence(text) || text.substr(0, at).ends_with(": ")))
      return false;
    size_t end = at + 1;
    for (models::CodePoint c = models::DecodeAt(text, end);
         models::IsLetter(c.value) && end - at < kLongest; c = models::DecodeAt(text, end)) {
      // Q&A and AT&T are words of their own.
      if (inside && models::IsUpper(c.value)) return false;
      end += c.bytes;
    }
    constexpr std::string_view kBehind = "&=/@_{";
    const char behind = models::ByteAt(text, end);
    return behind == 0 || kBehind.find(behind) == std::string_view::npos;
  }

  // Returns where the emphasis ends that the asterisks [at, end) begin, as in chats, or two
  // apostrophes and more, as in wikis: *very old*, ''very old''. Returns `at` if they begin none: 5
  // * 3, password*.
  static size_t EmphasisEnd(std::string_view text, size_t at, size_t end) {
    constexpr size_t kMostAsterisks = 3;
    constexpr size_t kLongest = 256;
    constexpr std::string_view kBefore = " \n\r\t([\"'";
    const std::string_view mark = text.substr(at, end - at);
    const auto is_word = [&](size_t place) {
      return models::IsWordCharacter(models::DecodeAt(text, place).value);
    };
    // ***NAME*** within a sentence is a placeholder, and so is *NAME*, unless it is a label.
    size_t name_end = end;
    while (models::IsNameByte(models::ByteAt(text, name_end))) ++name_end;
    if (mark[0] == '*' && models::IsCodeWord(text.substr(end, name_end - end), "field") &&
        models::ByteAt(text, name_end + mark.size()) != ':')
      return at;
    if (mark == "***" && models::ByteAt(text, name_end) == '*' &&
        (at > 0 || text.size() > name_end + mark.size()))
      return at;
    if (mark.size() > kMostAsterisks || !is_word(end) ||
        (at > 0 && kBefore.find(text[at - 1]) == std::string_view::npos))
      return at;
    const std::string_view near = text.substr(0, end + kLongest);
    const std::string signs = {mark[0], '\n'};
    for (size_t close = near.find_first_of(signs, end);
         close != std::string_view::npos && text[close] == mark[0];) {
      const size_t behind = std::min(text.find_first_not_of(mark[0], close), text.size());
      if (behind - close == mark.size() && text[close - 1] != ' ' &&
          (behind == text.size() || !is_word(behind)))  // [*name*] is a placeholder.
        return at > 0 && text[at - 1] == '[' && models::ByteAt(text, behind) == ']' ? at : close;
      close = near.find_first_of(signs, behind);
    }
    return at;
  }

  // Returns true if the _ at `at` marks the key of a menu's entry, as in GTK: _Open, E_xit. Names
  // of programs have more of them, small letters or nothing around them: _id, file_name.
  static bool IsUnderscoreAccelerator(std::string_view text, size_t at) {
    constexpr size_t kMostBefore = 3;  // letters of its word before it
    if (text.find('_') != at || text.find('_', at + 1) != std::string_view::npos ||
        IsSentence(text))
      return false;
    const size_t begin = text.substr(0, at).find_last_of(" ([\"") + 1;  // npos + 1 is 0
    const auto is_letter = [&](size_t place) {
      return models::IsAsciiLetter(text[place]) || static_cast<unsigned char>(text[place]) >= 0x80;
    };
    size_t end = at + 1;
    while (end < text.size() && is_letter(end)) ++end;
    const std::string_view before = text.substr(begin, at - begin);
    const std::string_view behind = text.substr(at + 1, end - at - 1);
    constexpr std::string_view kBehind = " .,:!?)]\"";
    if (behind.empty() || (end < text.size() && kBehind.find(text[end]) == std::string_view::npos))
      return false;
    const bool small = std::ranges::none_of(behind.substr(1), models::IsAsciiUpper);
    const bool is_capital = models::IsAsciiUpper(behind[0]);
    if (before.empty()) return small && (is_capital || behind.size() + 1 < text.size());
    return before.size() <= kMostBefore && small && !is_capital &&
           models::IsAsciiUpper(before[0]) &&
           std::ranges::all_of(before.substr(1), models::IsAsciiLower);
  }

  BlockBuilder out_{{.flows = false}};
};

}  // namespace

std::vector<MarkedBlock> ReadPlain(std::string_view text) { return PlainReader().Run(text); }

}  // namespace millrace::translation
