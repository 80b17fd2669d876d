#include "models/text/protected_spans.h"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "models/text/ascii.h"
#include "models/text/code_statement.h"
#include "models/text/code_token.h"
#include "models/text/trim.h"
#include "models/text/unicode.h"

namespace millrace::models {
namespace {

// Placeholders and pieces of code within a sentence are shorter; a bounded look-ahead keeps the
// time linear.
constexpr size_t kMaxSpanBytes = 256;
constexpr size_t kMaxMessageBytes = 16 << 10;
constexpr std::array<std::string_view, 62> kFileEndings = {
    "bat",  "bin",  "bz2",  "cc",   "cfg", "conf", "cpp",  "css",   "csv",  "dll", "doc",
    "docx", "exe",  "flac", "gif",  "go",  "gz",   "html", "htm",   "ini",  "iso", "java",
    "jpeg", "jpg",  "js",   "json", "log", "md",   "mkv",  "mov",   "mp3",  "mp4", "ods",
    "odt",  "ogg",  "pdf",  "php",  "png", "ppt",  "pptx", "proto", "py",   "rar", "rb",
    "rs",   "rtf",  "sh",   "so",   "sql", "svg",  "tar",  "tex",   "toml", "ts",  "txt",
    "wav",  "webp", "xls",  "xlsx", "xml", "yaml", "zip"};
constexpr std::array<std::string_view, 22> kDomainEndings = {
    "ai", "app", "au", "br",  "ca",   "ch", "co", "com", "de",  "dev", "edu",
    "es", "eu",  "fr", "gov", "info", "io", "it", "net", "org", "pt",  "uk"};

bool Among(std::string_view word, const auto& words) {
  return std::ranges::find(words, word) != words.end();
}

bool IsAddressByte(char c) {
  constexpr std::string_view kOthers = "-._~:/?#[]@!$&'()*+,;=%";
  return IsAsciiAlnum(c) || static_cast<unsigned char>(c) >= 0x80 ||
         kOthers.find(c) != std::string_view::npos;
}
bool IsNameByte(char c) { return IsAsciiAlnum(c) || c == '_'; }
bool IsQuote(char c) { return c == '"' || c == '\''; }
bool IsPathByte(char c) { return IsNameByte(c) || c == '.' || c == '-' || c == '~' || c == '+'; }

// Returns the length of the pattern that begins at a place; 0 if none begins there. The reader has
// the whole text, because a pattern also depends on the text before it.
class Reader {
 public:
  Reader(std::string_view text, bool brackets) : text_(text), brackets_(brackets) {
    FindCounterparts();
  }

  // Returns true for a pattern into which a program puts text, so that what touches it belongs to
  // it: v%s, {0}km.
  bool IsPlaceholder(size_t at) const {
    const char c = text_[at];
    return c == '{' || c == '%' || ((c == '$' || c == '#' || c == '@') && At(at + 1) == '{');
  }

  size_t EndAt(size_t at) const {
    if (!AtTokenStart(at)) return PatternEnd(at);
    if (const size_t statement = CodeStatementEnd(text_, at); statement > at) return statement;
    const size_t end = PatternEnd(at);
    return end > at ? end : CodeTokenEnd(text_, at);
  }

 private:
  size_t PatternEnd(size_t at) const {
    const char c = text_[at];
    switch (c) {
      case '<':
        return Enclosed(at, "<%", "%>") + Enclosed(at, "<?", "?>") + NameBetween(at, "<<", ">>");
      case '(':
        return NameBetween(at, "((", "))");
      case '[':
        return brackets_ ? Brackets(at) : 0;
      case '|':
        return Pipes(at);
      case '{':
        return Braces(at);
      case '$':
        return Dollar(at);
      case '%':
        return Percent(at);
      case ':':
        return Colon(at);
      case '`':
        return Code(at);
      case '@':
      case '#':
        if (const size_t doubled = Doubled(at); doubled > 0) return doubled;
        return At(at + 1) == '{' ? Braces(at + 1) : Tag(at);
      case '*':
        return Enclosed(at, "*|", "|*");
      case '&':
        return EscapedTag(at);
      case '!':
        return AtTokenStart(at) && IsAsciiLower(At(at + 1)) ? NameOfTwo(at + 1) : 0;
      case '-':
        return AtTokenStart(at) ? Option(at) : 0;
      case '/':
      case '~':
      case '.':
        return AtWordStart(at) ? std::max(Path(at), Directive(at)) : 0;
      default:
        if (static_cast<unsigned char>(c) >= 0xE2) return std::max(Emoji(at), Shortcut(at));
        return IsNameByte(c) && AtWordStart(at) ? Word(at) : 0;
    }
  }

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

  // Finds the } of each {.
  void FindCounterparts() {
    if (text_.find('{') == std::string_view::npos) return;
    closing_.assign(text_.size(), 0);
    std::vector<size_t> open;
    for (size_t at = 0; at < text_.size(); ++at) {
      if (text_[at] == '{') {
        open.push_back(at);
      } else if (text_[at] == '}' && !open.empty()) {
        closing_[open.back()] = at;
        open.pop_back();
      }
    }
  }

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

  // Returns the end of a name between two doubled signs: ##name##, @@name@@, %% name %%. Spaces
  // beside ## are those of a heading.
  size_t Doubled(size_t at) const {
    const char sign = text_[at];
    if (At(at + 1) != sign) return 0;
    const std::string_view mark = text_.substr(at, 2);
    if (const size_t spaced = sign == '#' ? 0 : NameBetween(at, mark, mark); spaced > 0)
      return spaced;
    const size_t end = NameEnd(at + 2);
    return end > at + 2 && At(end) == sign && At(end + 1) == sign ? end + 2 : 0;
  }

  // Returns the end of a name of two letters or more, 0 if there is none.
  size_t NameOfTwo(size_t at) const {
    const size_t end = NameEnd(at);
    return end > at + 1 ? end : 0;
  }

  // Reads an option of a command: --force, --color=auto. A word between dashes is a remark.
  size_t Option(size_t at) const {
    if (At(at + 1) != '-' || !IsAsciiLower(At(at + 2))) return 0;
    const auto is_part = [](char c) { return IsNameByte(c) || c == '-'; };
    size_t end = RunEnd(at + 2, is_part);
    if (text_[end - 1] == '-') return 0;
    const std::string_view rest = text_.substr(end, kMaxSpanBytes);
    for (size_t dash = rest.find("--"); dash != std::string_view::npos;
         dash = rest.find("--", dash + 2)) {
      if (dash > 0 && rest[dash - 1] != ' ' && !IsAsciiAlnum(ByteAt(rest, dash + 2))) return 0;
    }
    if (At(end) == '=') end = Trimmed(at, RunEnd(end + 1, IsPathByte));
    return end;
  }

  // Reads a tag that is written with entities: &lt;b&gt;, &lt;/a&gt;
  size_t EscapedTag(size_t at) const {
    constexpr size_t kLongest = 128;
    if (text_.substr(at, 4) != "&lt;" || (!IsAsciiLetter(At(at + 4)) && At(at + 4) != '/'))
      return 0;
    const size_t close = text_.substr(0, at + kLongest).find("&gt;", at);
    if (close == std::string_view::npos) return 0;
    const std::string_view inner = text_.substr(at + 4, close - at - 4);
    const bool is_tag = inner.find_first_of("&\n") == std::string_view::npos &&
                        (inner.find(' ') == std::string_view::npos ||
                         inner.find('=') != std::string_view::npos || inner.ends_with('/'));
    return is_tag ? close + 4 : 0;
  }

  // Returns true for x, "a b", 3; not for the words of a remark.
  static bool IsArguments(std::string_view inner) {
    for (size_t at = inner.find(' '); at != std::string_view::npos; at = inner.find(' ', at + 1)) {
      if (at == 0 || inner[at - 1] != ',') return false;
    }
    return !inner.empty();
  }

  // Returns true for the name of a function that no word has: obj.method, get_name.
  static bool IsCallable(std::string_view word) {
    constexpr size_t kFewest = 2;
    const size_t dot = word.rfind('.');
    if (dot != std::string_view::npos &&
        (dot < kFewest || dot + kFewest >= word.size() || !IsAsciiLower(word[dot + 1]))) {
      return false;
    }
    const bool is_joined = dot != std::string_view::npos ||
                           word.substr(0, word.size() - 1).find('_') != std::string_view::npos;
    return is_joined && IsAsciiLetter(word.front()) &&
           std::ranges::all_of(word, [](char c) { return IsNameByte(c) || c == '.'; });
  }

  // Reads a directive of reStructuredText: .. note::
  size_t Directive(size_t at) const {
    if ((at > 0 && text_[at - 1] != '\n') || text_.substr(at, 3) != ".. ") return 0;
    const size_t end = RunEnd(at + 3, [](char c) { return IsNameByte(c) || c == '-'; });
    return end > at + 3 && text_.substr(end, 2) == "::" ? end + 2 : 0;
  }

  // Reads the keys of a shortcut that are written as signs, with a letter or digit behind them.
  size_t Shortcut(size_t at) const {
    constexpr std::u32string_view kKeys = U"⌘⌥⇧⌃⎋⏎↩⇥⌫⌦";
    size_t end = at;
    for (CodePoint c = DecodeAt(text_, at);
         c.bytes > 0 && kKeys.find(c.value) != kKeys.npos && end - at < kMaxSpanBytes;
         c = DecodeAt(text_, end))
      end += c.bytes;
    if (end > at && IsAsciiAlnum(At(end)) && !IsNameByte(At(end + 1))) ++end;
    return end;
  }

  // Returns true if each word begins with a capital or a digit: Your Name.
  static bool IsTitle(std::string_view words) {
    bool begins = true;
    for (size_t at = 0; at < words.size();) {
      const CodePoint c = DecodeAt(words, at);
      if (begins && !IsUpper(c.value) && !IsDigit(c.value)) return false;
      begins = c.value == ' ';
      at += c.bytes;
    }
    return !words.empty() && !begins;
  }

  static bool HasSentence(std::string_view words) {
    constexpr std::ptrdiff_t kMostSpaces = 5;
    return words.find_first_of(".!?;\n") != std::string_view::npos ||
           std::ranges::count(words, ' ') > kMostSpaces;
  }

  // Returns true for an expression of a program: x + y, a ? b : "c", "key": 1.
  static bool IsExpression(std::string_view inner) {
    constexpr std::array<std::string_view, 14> kOperators = {" + ",  " * ",  " / ", " % ",  " = ",
                                                             " == ", " != ", " ? ", " && ", " || ",
                                                             " => ", " < ",  " > ", "()"};
    return inner.front() == '"' || inner.back() == '"' ||
           std::ranges::any_of(kOperators, [inner](std::string_view sign) {
             return inner.find(sign) != std::string_view::npos;
           });
  }

  // Returns true if the same sign stands behind an opening bracket and before the closing one:
  // {! name !}, [: name :].
  static bool HasSigns(std::string_view inner) {
    constexpr std::string_view kSigns = "!%$:=#";
    return inner.size() > 2 && inner.front() == inner.back() &&
           kSigns.find(inner.front()) != std::string_view::npos;
  }

  // Returns true for the numbers of notes: 12; 3, 7; 4-9.
  static bool IsNote(std::string_view inner) {
    return !inner.empty() && IsAsciiDigit(inner.front()) && IsAsciiDigit(inner.back()) &&
           inner.find_first_not_of("0123456789, -") == std::string_view::npos;
  }

  // Returns true for the contents of an ICU message, such as {n, plural, one {# cat} ...}.
  static bool IsMessage(std::string_view inner) {
    constexpr std::array<std::string_view, 3> kKinds = {"plural", "select", "selectordinal"};
    const size_t comma = inner.find(',');
    if (comma == std::string_view::npos) return false;
    const size_t kind = inner.find_first_not_of(" \t\r\n", comma + 1);
    const size_t end = inner.find_first_of(", \n\t", kind);
    return end != std::string_view::npos && Among(inner.substr(kind, end - kind), kKinds);
  }

  // Reads {name}, { name }, {Your Name}, {0:.2f}, {{ name }}, {% tag %}, {count, plural, ...}; not
  // {a remark in braces}.
  size_t Braces(size_t at) const {
    if (const size_t tag = Enclosed(at, "{%", "%}") + Enclosed(at, "{#", "#}"); tag > 0) return tag;
    const size_t end = at < closing_.size() ? closing_[at] : 0;
    if (end == 0) return 0;
    const std::string_view inner = text_.substr(at + 1, end - at - 1);
    if (inner.size() <= kMaxMessageBytes && IsMessage(inner)) return end + 1;
    if (inner.size() > kMaxSpanBytes || inner.find('\n') != std::string_view::npos) return 0;
    if (inner.empty() || (inner.front() == '{' && inner.back() == '}') || HasSigns(inner))
      return end + 1;
    const size_t space = inner.find(' ');
    if (space == std::string_view::npos || inner.find(',') < space) return end + 1;
    const bool spaced = inner.size() > 2 && inner.starts_with(' ') && inner.ends_with(' ');
    if (spaced && !HasSentence(inner.substr(1, inner.size() - 2))) return end + 1;
    if (IsExpression(inner) && inner.find(". ") == std::string_view::npos) return end + 1;
    return IsTitle(inner) && !HasSentence(inner) ? end + 1 : 0;
  }

  // Returns true if the text before a place is the beginning of a line, but for [remarks].
  bool BeginsLine(size_t at) const {
    constexpr size_t kMostRemarks = 4;
    constexpr size_t kLongest = 40;
    for (size_t remarks = 0; remarks <= kMostRemarks; ++remarks) {
      while (at > 0 && text_[at - 1] == ' ') --at;
      if (at == 0 || text_[at - 1] == '\n') return true;
      if (text_[at - 1] != ']') return false;
      const size_t from = at - std::min(at, kLongest);
      const size_t opening = text_.substr(from, at - from).rfind('[');
      if (opening == std::string_view::npos) return false;
      at = from + opening;
    }
    return false;
  }

  // Reads [[name]], [% name %], [12], [/b], [code id="1"] and, within a sentence, [name], [ name ]
  // and [Your Name]; not [Applause] before one.
  size_t Brackets(size_t at) const {
    if (At(at + 1) == '[') {
      const size_t end = Enclosed(at, "[[", "]]");
      return text_.substr(at, end - std::min(at, end)).find('\n') == std::string_view::npos ? end
                                                                                            : 0;
    }
    constexpr size_t kLongest = 40;
    const size_t close = text_.substr(0, at + kLongest).find_first_of("]\n[", at + 1);
    if (At(close) != ']' || At(close + 1) == '(' || At(close + 1) == '[') return 0;
    std::string_view inner = text_.substr(at + 1, close - at - 1);
    if (HasSigns(inner) || IsNote(inner)) return close + 1;
    if (inner.size() > 2 && inner.front() == ' ' && inner.back() == ' ')
      inner = inner.substr(1, inner.size() - 2);
    const size_t name_end = NameEnd(at + 2);
    const bool is_tag = name_end > at + 2 && name_end == close && At(at + 1) == '/';
    const bool has_attribute = IsAsciiLetter(At(at + 1)) && inner.find('=') < inner.size() - 1 &&
                               inner.find(" =") == std::string_view::npos;
    if (is_tag || has_attribute) return close + 1;
    const bool is_name =
        !inner.empty() && IsAsciiLetter(inner[0]) &&
        std::ranges::all_of(inner, [](char c) { return IsNameByte(c) || c == '-'; });
    if (!is_name && (inner.find(' ') == std::string_view::npos || !IsTitle(inner))) return 0;
    const bool begins = BeginsLine(at);
    const size_t behind = std::min(text_.find_first_not_of(' ', close + 1), text_.size());
    const CodePoint next = DecodeAt(text_, behind);
    const bool ends = next.bytes == 0 || next.value == '\n';
    if (begins && (ends || IsUpper(next.value) || next.value == '[')) return 0;
    const bool capitals = std::ranges::none_of(inner, [](char c) { return c >= 'a' && c <= 'z'; });
    return capitals && inner.size() > 1 && ends ? 0 : close + 1;
  }

  // Reads |name|, which stands alone.
  size_t Pipes(size_t at) const {
    constexpr size_t kLongest = 64;
    if (at > 0 && !IsSpace(DecodeBefore(text_, at).value) && text_[at - 1] != '(') return 0;
    const size_t close = text_.substr(0, at + kLongest).find_first_of("|\n", at + 1);
    if (At(close) != '|' || close == at + 1 || At(at + 1) == ' ' || text_[close - 1] == ' ')
      return 0;
    return IsWordCharacter(DecodeAt(text_, close + 1).value) || At(close + 1) == '|' ? 0
                                                                                     : close + 1;
  }

  // Reads what begins with ${: a variable, whatever is in it, such as ${name:-a default}.
  size_t DollarBraces(size_t at) const {
    if (const size_t end = Braces(at + 1); end > 0) return end;
    const size_t close = at + 1 < closing_.size() ? closing_[at + 1] : 0;
    if (close == 0 || close - at > kMaxSpanBytes) return 0;
    return text_.substr(at, close - at).find('\n') == std::string_view::npos ? close + 1 : 0;
  }

  // Reads ${name}, $NAME, $NAME/path, $env:NAME, $it->name, $x^2$, $t(key), $(pwd); not $5.
  size_t Dollar(size_t at) const {
    if (At(at + 1) == '{') return DollarBraces(at);
    if (const size_t doubled = Doubled(at); doubled > 0) return doubled;
    if (At(at + 1) == '(') return Parentheses(at + 1);
    if (const size_t name = NameBetween(at, "$[", "]"); name > 0) return name;
    if (!IsAsciiLetter(At(at + 1)) && At(at + 1) != '_') return 0;
    size_t end = NameEnd(at + 1);
    if (const size_t call = Parentheses(end); call > 0) return call;
    const size_t joint = At(end) == ':' ? 1 : text_.substr(end, 2) == "->" ? 2 : 0;
    if (joint > 0 && IsNameByte(At(end + joint))) end = NameEnd(end + joint);
    if (At(end) == '/' && IsPathByte(At(end + 1))) {
      return Trimmed(at, RunEnd(
                             end, [](char c) { return IsPathByte(c) || c == '/'; }, 1024));
    }
    // A formula without spaces.
    const size_t close = RunEnd(at + 1, [](char c) {
      return c > ' ' && static_cast<unsigned char>(c) < 0x80 && c != '$' && c != '/';
    });
    return At(close) == '$' && !IsNameByte(At(close + 1)) && At(close + 1) != '{' ? close + 1 : end;
  }

  // Reads placeholders of printf, Qt, Python and Ruby: %s, %1$d, %-5.2f, %lld, %(name)s, %<name>s,
  // %{name}, %1, %n, %%; but not "5 % of it".
  size_t Percent(size_t at) const {
    size_t next = at + 1;
    if (At(next) == '{') return Braces(next);
    if (const size_t doubled = Doubled(at); doubled > 0) return doubled;
    if (const size_t end = NameEnd(next);
        IsAsciiLetter(At(next)) && At(end) == '%' && At(end + 1) != '%' && !IsNameByte(At(end + 1)))
      return end + 1;
    if (At(next) == '@' || At(next) == '%') return next + 1;
    if (At(next) == '(' || At(next) == '<' || At(next) == '[') {
      next = std::max(
          {NameBetween(next, "(", ")"), NameBetween(next, "<", ">"), NameBetween(next, "[", "]")});
      if (next == 0) return 0;
    } else if (at > 0 && IsAsciiDigit(text_[at - 1])) {
      return 0;
    }
    // Qt: %1, %L2
    const size_t number = next + (At(next) == 'L' ? 1 : 0);
    const size_t number_end = DigitsEnd(text_, number);
    const bool is_qt = number_end > number && number_end - number <= 2 && At(number) != '0' &&
                       At(number_end) != '$' && At(number_end) != '.';
    const auto part = [](char c) {
      return IsAsciiDigit(c) || c == '$' || c == '.' || c == '-' || c == '+' || c == '#' ||
             c == '*';
    };
    next = RunEnd(next, part, 12);
    next = RunEnd(
        next, [](char c) { return c == 'l' || c == 'h' || c == 'z'; }, 2);
    constexpr std::string_view kConversions = "sdiufFeEgGxXocpn@";
    const char conversion = At(next);
    const bool converts =
        conversion != 0 && kConversions.find(conversion) != std::string_view::npos;
    if (converts && !IsNameByte(At(next + 1))) return next + 1;
    return is_qt ? number_end : 0;
  }

  // Reads :name:, :name.
  size_t Colon(size_t at) const {
    if (!AtWordStart(at) || (at > 0 && At(at - 1) == ':') || !IsAsciiLetter(At(at + 1))) return 0;
    size_t end = NameEnd(at + 1);
    if (At(end) == ':') ++end;
    // A role of reStructuredText: :ref:`text <target>`
    if (const size_t code = At(end) == '`' ? Code(end) : 0; code > 0) return code;
    return end - at > 2 ? end : 0;
  }

  // Reads `code`, and ``code`` with as many backticks after it as before.
  size_t Code(size_t at) const {
    const auto ticks = [](char c) { return c == '`'; };
    const size_t inner = RunEnd(at, ticks);
    if (at > 0 && text_[at - 1] == '`') return 0;
    const std::string_view mark = text_.substr(at, inner - at);
    const std::string_view window = text_.substr(0, inner + kMaxSpanBytes);
    const size_t close = window.find(mark, inner + 1);
    if (close == std::string_view::npos) return 0;
    if (window.substr(inner, close - inner).find('\n') != std::string_view::npos) return 0;
    return close + mark.size();
  }

  // Reads @somebody, @group/team, @:key, @if(x), #topic, #123.
  size_t Tag(size_t at) const {
    if (at > 0 && (!AtWordStart(at) || text_[at - 1] == '&' || text_[at - 1] == '#')) return 0;
    const bool is_at = text_[at] == '@';
    const size_t begin = at + (is_at && At(at + 1) == ':' ? 2 : 1);
    size_t end = begin;
    for (CodePoint c = DecodeAt(text_, end); end - at < kMaxSpanBytes; c = DecodeAt(text_, end)) {
      const bool joins =
          is_at && end > begin && (c.value == '/' || c.value == '.') && IsAsciiLetter(At(end + 1));
      if (!joins && !IsWordCharacter(c.value) && c.value != '_') break;
      end += c.bytes;
    }
    if (const size_t call = is_at ? Parentheses(end) : 0; call > 0) return call;
    return end > begin ? end : 0;
  }

  // Reads a path that begins with /, ./, ../ or ~/; not the slash of "and / or".
  size_t Path(size_t at) const {
    if (at > 0 && !IsSpace(DecodeBefore(text_, at).value) && At(at - 1) != '"' &&
        At(at - 1) != '\'' && At(at - 1) != '(') {
      return 0;
    }
    const size_t dots = RunEnd(
        at, [](char c) { return c == '.' || c == '~'; }, 2);
    if (At(dots) != '/' || !IsPathByte(At(dots + 1))) return 0;
    return Trimmed(at, RunEnd(
                           dots, [](char c) { return IsPathByte(c) || c == '/'; }, 1024));
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

  size_t Address(size_t begin, size_t from) const {
    const size_t limit = std::min(text_.size(), from + 2048);
    size_t end = from;
    while (end < limit && IsAddressByte(text_[end])) {
      const CodePoint c = DecodeAt(text_, end);
      if (c.bytes > 1 && !IsWordCharacter(c.value)) break;
      end += c.bytes;
    }
    end = Trimmed(begin, end);
    return end > from ? end : 0;
  }

  // Reads 2*3*4; returns 0 if it is none.
  size_t ProductEnd(size_t at) const {
    size_t end = DigitsEnd(text_, at);
    if (end == at) return 0;
    size_t factors = 1;
    for (size_t next = end; At(next) == '*' && DigitsEnd(text_, next + 1) > next + 1; ++factors)
      end = next = DigitsEnd(text_, next + 1);
    return factors > 1 ? end : 0;
  }

  // Returns the end of (2), (a) or (iv), before which there may be a space; 0 if there is none.
  size_t ReferenceGroup(size_t at, bool may_have_space) const {
    constexpr size_t kMostDigits = 4;
    constexpr std::string_view kRoman = "ivxlcdmIVXLCDM";
    if (may_have_space && At(at) == ' ') ++at;
    if (At(at) != '(') return 0;
    const size_t begin = at + 1;
    const size_t digits = DigitsEnd(text_, begin);
    const size_t letters = RunEnd(begin, [](char c) { return IsAsciiLetter(c); });
    const size_t end = std::max(digits, letters);
    if (end == begin || At(end) != ')' || end - begin > kMostDigits + 1) return 0;
    const std::string_view inner = text_.substr(begin, end - begin);
    const bool is_roman = inner.find_first_not_of(kRoman) == std::string_view::npos;
    return digits > begin || inner.size() == 1 || is_roman ? end + 1 : 0;
  }

  // Reads the number of a clause or figure with its parts: 5(2)(b), 12.3(a), 3 (a) (ii); returns 0
  // if it is none.
  size_t ReferenceEnd(size_t at) const {
    size_t end = DigitsEnd(text_, at);
    const bool is_fraction = at > 1 && text_[at - 1] == ',' && IsAsciiDigit(text_[at - 2]);
    if (end == at || is_fraction) return 0;
    const bool is_whole = At(end) != '.' && At(end) != ',';
    while (At(end) == '.' && DigitsEnd(text_, end + 1) > end + 1) end = DigitsEnd(text_, end + 1);
    if (IsAsciiLetter(At(end)) && !IsNameByte(At(end + 1))) ++end;
    size_t last = 0;
    for (size_t group = ReferenceGroup(end, is_whole); group > 0 && last < at + kMaxSpanBytes;
         group = ReferenceGroup(last, is_whole))
      last = group;
    return last > 0 && !IsWordCharacter(DecodeAt(text_, last).value) ? last : 0;
  }

  // Reads patterns that begin with a letter, digit or _.
  size_t Word(size_t at) const {
    // A percentage in a format string: 100%%
    if (const size_t digits = DigitsEnd(text_, at); digits > at && text_.substr(digits, 2) == "%%")
      return digits + 2;
    if (const size_t product = ProductEnd(at); product > 0) return product;
    if (const size_t reference = ReferenceEnd(at); reference > 0) return reference;
    const size_t letters = RunEnd(at, IsAsciiLetter, 16);
    if (letters > at && text_.substr(letters, 3) == "://") return Address(at, letters + 3);
    if (text_.substr(at, 7) == "mailto:") return Address(at, at + 7);
    if (text_.substr(at, 4) == "www." && IsAsciiAlnum(At(at + 4))) return Address(at, at + 4);
    if (letters == at + 1 && At(letters) == ':' &&
        (At(letters + 1) == '\\' || At(letters + 1) == '/')) {
      const auto part = [](char c) { return IsPathByte(c) || c == '\\' || c == '/' || c == ':'; };
      return Trimmed(at, RunEnd(letters, part, 1024));
    }
    const size_t end = RunEnd(at, IsPathByte);
    if (At(end) == '@') {
      // git@host:folder/file
      const size_t host = RunEnd(end + 1, IsPathByte);
      if (host > end + 1 && At(host) == ':' && (IsPathByte(At(host + 1)) || At(host + 1) == '/')) {
        return Trimmed(at, RunEnd(
                               host + 1, [](char c) { return IsPathByte(c) || c == '/'; }, 1024));
      }
      const size_t mail = Mail(end + 1);
      if (mail > 0) return mail;
    }
    if (At(end) == '(' && At(end + 1) == ')') return end + 2;
    // print("text")
    if (const size_t call = IsQuote(At(end + 1)) ? Parentheses(end) : 0;
        call > 0 && text_[call - 2] == At(end + 1))
      return call;
    // list.append(x), get_name(a, b)
    if (At(end) == '(' && IsCallable(text_.substr(at, end - at))) {
      const size_t call = Parentheses(end);
      if (call > 0 && IsArguments(text_.substr(end + 1, call - end - 2))) return call;
    }
    return Name(at, end);
  }

  // Reads adjacent emoji, with the marks that join and colour them.
  size_t Emoji(size_t at) const {
    size_t end = at;
    for (CodePoint c = DecodeAt(text_, at); c.bytes > 0; c = DecodeAt(text_, end)) {
      const bool emoji = (c.value >= 0x1F000 && c.value < 0x1FB00) ||
                         (c.value >= 0x2600 && c.value < 0x27C0) || c.value == U'⭐';
      const bool tag = c.value >= 0xE0020 && c.value <= 0xE007F;  // a region's flag
      const bool joiner = c.value == 0x200D || c.value == 0xFE0F || tag;
      if (end - at >= kMaxSpanBytes || !(emoji || (joiner && end > at))) break;
      end += c.bytes;
    }
    return end;
  }

  // Returns the end of the domain after an @; 0 if there is none.
  size_t Mail(size_t at) const {
    size_t end = RunEnd(at, [](char c) { return IsAsciiAlnum(c) || c == '.' || c == '-'; });
    while (end > at && !IsAsciiAlnum(text_[end - 1])) --end;
    return text_.substr(at, end - at).find('.') == std::string_view::npos ? 0 : end;
  }

  // Reads a version, a file, a domain or a name_like_this between `at` and `end`.
  size_t Name(size_t at, size_t end) const {
    if (end < text_.size() && IsWordCharacter(DecodeAt(text_, end).value)) return 0;
    end = Trimmed(at, end);
    while (end > at && (text_[end - 1] == '-' || text_[end - 1] == '+')) --end;
    // The name may follow a folder: src/main.cc
    if (At(end) == '/') {
      const size_t whole =
          Trimmed(at, RunEnd(
                          end, [](char c) { return IsPathByte(c) || c == '/'; }, 1024));
      if (HasEnding(text_.substr(end, whole - end)) || HasEnding(text_.substr(at, end - at)))
        return whole;
    }
    const std::string_view word = text_.substr(at, end - at);
    if (word.find('_') != std::string_view::npos && word.find_first_not_of('_') != word.npos)
      return end;
    if (IsVersion(word) || HasEnding(word)) return end;
    return 0;
  }

  static bool HasEnding(std::string_view word) {
    const size_t dot = word.rfind('.');
    if (dot == std::string_view::npos || dot == 0) return false;
    const std::string_view ending = word.substr(dot + 1);
    if (Among(ending, kFileEndings) || Among(ending, kDomainEndings)) return true;
    // "the end.It is": two letters of which one is small may begin a sentence.
    const bool capitals = std::ranges::all_of(ending, IsAsciiUpper);
    return (capitals || ending.size() > 2) && Among(AsciiLower(ending), kFileEndings);
  }

  // Returns true for 1.2.3, v2, v1.0-rc1, 192.168.0.1; not for 1.234.567, which is a number.
  static bool IsVersion(std::string_view word) {
    const bool marked = word.front() == 'v';
    if (marked) word.remove_prefix(1);
    if (word.empty() || !IsAsciiDigit(word.front())) return false;
    size_t dots = 0;
    bool thousands = true;
    size_t at = DigitsEnd(word, 0);
    while (at < word.size() && word[at] == '.') {
      const size_t end = DigitsEnd(word, at + 1);
      if (end == at + 1) return false;
      thousands = thousands && end - at == 4;
      at = end;
      ++dots;
    }
    if (at < word.size() && word[at] != '-' && word[at] != '+') return false;
    return marked || (dots >= 2 && !thousands);
  }

  const std::string_view text_;
  const bool brackets_;
  std::vector<size_t> closing_;  // by byte: where the { there is closed; 0: it is not
};

// Returns where the word begins that goes on to `at`, but no place before `limit`; `at` if the word
// is long or has letters that are not ASCII.
size_t TouchingBegin(std::string_view text, size_t at, size_t limit) {
  constexpr size_t kLongest = 12;
  size_t begin = at;
  while (begin > limit && IsNameByte(text[begin - 1]) && at - begin <= kLongest) --begin;
  return at - begin > kLongest ? at : begin;
}

size_t TouchingEnd(std::string_view text, size_t at) {
  constexpr size_t kLongest = 12;
  size_t end = at;
  while (end < text.size() && IsNameByte(text[end]) && end - at <= kLongest) ++end;
  if (end - at > kLongest) return at;
  // Signs of ordinal numbers and degrees.
  constexpr std::u32string_view kSigns = U"ºª°";
  const CodePoint c = DecodeAt(text, end);
  return end == at && c.bytes > 0 && kSigns.find(c.value) != kSigns.npos ? end + c.bytes : end;
}

// Returns true if one sign between two placeholders joins them: %d:%d, {a}/{b}.
bool IsJoint(std::string_view between) {
  constexpr std::string_view kJoints = ":/-.,x_=+|";
  return between.size() == 1 && kJoints.find(between[0]) != std::string_view::npos;
}

}  // namespace

std::vector<ProtectedSpan> FindProtectedSpans(std::string_view text, const TermIndex& terms,
                                              bool brackets) {
  std::vector<ProtectedSpan> spans;
  const Reader reader(text, brackets);
  bool after_placeholder = false;  // the last span is one
  for (size_t at = 0; at < text.size();) {
    const size_t end = reader.EndAt(at);  // at most `at`: there is no pattern
    const auto term = terms.empty() ? std::nullopt : terms.Find(text, at);
    if (term && term->end >= end) {
      const std::string_view own = text.substr(at, term->end - at);
      spans.push_back({at, term->end, term->becomes.empty() ? own : term->becomes});
      at = term->end;
      after_placeholder = false;
    } else if (end > at) {
      const bool placeholder = reader.IsPlaceholder(at);
      const size_t free = spans.empty() ? 0 : spans.back().end;
      size_t begin = placeholder ? TouchingBegin(text, at, free) : at;
      at = placeholder ? TouchingEnd(text, end) : end;
      if (placeholder && after_placeholder && IsJoint(text.substr(free, begin - free))) {
        begin = spans.back().begin;
        spans.pop_back();
      }
      const char before = placeholder && begin > free ? text[begin - 1] : '\0';
      if ((IsQuote(before) && ByteAt(text, at) == before) ||
          (before == '[' && ByteAt(text, at) == ']')) {
        --begin;
        ++at;
      }
      spans.push_back({begin, at, text.substr(begin, at - begin)});
      after_placeholder = placeholder;
    } else {
      at += DecodeAt(text, at).bytes;
    }
  }
  return spans;
}

}  // namespace millrace::models
