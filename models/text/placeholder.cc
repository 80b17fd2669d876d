#include "models/text/placeholder.h"

#include <array>
#include <string>

#include "models/text/code_words.h"

namespace millrace::models {
namespace {

constexpr size_t kMaxMessageBytes = 16 << 10;

// Returns true if each word begins with a capital or a digit: Your Name.
bool IsTitle(std::string_view words) {
  bool begins = true;
  for (const char32_t c : DecodeUtf8(words)) {
    if (begins && !IsUpper(c) && !IsDigit(c)) return false;
    begins = c == ' ';
  }
  return !words.empty() && !begins;
}

bool HasSentence(std::string_view words) {
  constexpr std::ptrdiff_t kMostSpaces = 5;
  const size_t stop = words.find('.');  // The stop of user.name ends no sentence.
  return words.find_first_of("!?;\n") != std::string_view::npos ||
         (stop != std::string_view::npos && !IsNameByte(ByteAt(words, stop + 1))) ||
         std::ranges::count(words, ' ') > kMostSpaces;
}

// Returns true for an expression of a program: x + y, a ? b : "c", "key": 1.
bool IsExpression(std::string_view inner) {
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
bool HasSigns(std::string_view inner) {
  constexpr std::string_view kSigns = "!%$:=#*~";
  return inner.size() > 2 && inner.front() == inner.back() &&
         kSigns.find(inner.front()) != std::string_view::npos;
}

// Returns true for the numbers of notes: 12; 3, 7; 4-9.
bool IsNote(std::string_view inner) {
  return !inner.empty() && IsAsciiDigit(inner.front()) && IsAsciiDigit(inner.back()) &&
         inner.find_first_not_of("0123456789, -") == std::string_view::npos;
}

// Returns true for the contents of an ICU message, such as {n, plural, one {# cat} ...}.
bool IsMessage(std::string_view inner) {
  constexpr std::array<std::string_view, 3> kKinds = {"plural", "select", "selectordinal"};
  const size_t comma = inner.find(',');
  if (comma == std::string_view::npos) return false;
  const size_t kind = inner.find_first_not_of(" \t\r\n", comma + 1);
  const size_t end = inner.find_first_of(", \n\t", kind);
  return end != std::string_view::npos &&
         std::ranges::find(kKinds, inner.substr(kind, end - kind)) != kKinds.end();
}

}  // namespace

size_t ColourCodeEnd(std::string_view text, size_t at) {
  constexpr std::string_view kParagraph = "§";
  constexpr std::string_view kStyles = "abcdefklmnor";
  constexpr size_t kDigitsOfColour = 6;
  const bool is_paragraph = text.substr(at).starts_with(kParagraph);
  if (!is_paragraph && text[at] != '&') return 0;
  const size_t next = at + (is_paragraph ? kParagraph.size() : 1);
  const char code = ByteAt(text, next);
  const char behind = ByteAt(text, next + 1);
  const auto is_hex = [](char c) {
    return IsAsciiDigit(c) || (AsciiLower(c) >= 'a' && AsciiLower(c) <= 'f');
  };
  if (code == '#') {
    const std::string_view digits = text.substr(next + 1, kDigitsOfColour);
    return digits.size() == kDigitsOfColour && std::ranges::all_of(digits, is_hex)
               ? next + 1 + kDigitsOfColour
               : 0;
  }
  // §12 is a paragraph of a law.
  if (IsAsciiDigit(code)) return IsAsciiDigit(behind) || behind == '.' ? 0 : next + 1;
  if (kStyles.find(code) == std::string_view::npos || code == '\0' || IsAsciiLower(behind))
    return 0;
  // Q&a is a word; another code may stand before.
  const char32_t before = at > 0 ? DecodeBefore(text, at).value : U'\0';
  const bool joined = at > 1 && IsWordCharacter(before) &&
                      (text[at - 2] == '&' || text.substr(0, at - 1).ends_with(kParagraph));
  return is_paragraph || joined || !IsWordCharacter(before) ? next + 1 : 0;
}

PlaceholderReader::PlaceholderReader(const PatternText& text) : PatternText(text) {
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

size_t PlaceholderReader::EndAt(size_t at) const {
  switch (text_[at]) {
    case '<':
      return Enclosed(at, "<%", "%>") + Enclosed(at, "<?", "?>") + Enclosed(at, "</#", ">") +
             NameBetween(at, "<<", ">>");
    case '(':
      return NameBetween(at, "((", "))") + Converted(at);
    case '\\':
      // Swift: \(user.name)
      return NameBetween(at, "\\(", ")");
    case '[':
      if (!options_.brackets) return Enclosed(at, "[%", "%]") + NameBetween(at, "[[", "]]");
      return Brackets(at);
    case '|':
      return Pipes(at);
    case '{':
      return Braces(at);
    case '$':
      return Dollar(at);
    case '%':
      return Percent(at);
    case '@':
    case '#':
      if (const size_t doubled = Doubled(at); doubled > 0) return doubled;
      // @:{'key'}
      if (text_.substr(at, 3) == "@:{") return Braces(at + 2);
      return At(at + 1) == '{' ? Braces(at + 1) : Signed(at);
    case '*':
      return Enclosed(at, "*|", "|*") + Signed(at);
    case '&':
    case '\xC2':
      return ColourCodeEnd(text_, at);
    case '-':
    case '=':
    case '~':
    case '^':
    case '!':
      return Signed(at);
    default:
      return 0;
  }
}

// Returns the end of a name between two doubled signs: ##name##, @@name@@, %% name %%. Spaces
// beside ## are those of a heading.
size_t PlaceholderReader::Doubled(size_t at) const {
  const char sign = text_[at];
  if (At(at + 1) != sign) return 0;
  const std::string_view mark = text_.substr(at, 2);
  if (const size_t spaced = sign == '#' ? 0 : NameBetween(at, mark, mark); spaced > 0)
    return spaced;
  size_t end = at + 2;
  for (CodePoint c = DecodeAt(text_, end);
       end - at < kMaxSpanBytes && (IsWordCharacter(c.value) || c.value == '_');
       c = DecodeAt(text_, end))
    end += c.bytes;
  return end > at + 2 && At(end) == sign && At(end + 1) == sign ? end + 2 : 0;
}

// Reads what Python writes behind a percent sign, where that was lost: (name)s; and (NAME).
size_t PlaceholderReader::Converted(size_t at) const {
  constexpr std::string_view kConversions = "sdifr";
  const size_t end = AtWordStart(at) ? NameEnd(at + 1) : at;
  if (end > at && At(end) == ')' && IsCodeWord(text_.substr(at + 1, end - at - 1), "field"))
    return end + 1;
  return end > at + 2 && At(end) == ')' && At(end + 1) != 0 &&
                 kConversions.find(At(end + 1)) != std::string_view::npos &&
                 !IsNameByte(At(end + 2))
             ? end + 2
             : 0;
}

// Reads a name in capitals between equal signs: #NAME#, --NAME--; in any letters: ***name***.
size_t PlaceholderReader::Signed(size_t at) const {
  constexpr size_t kEmphasis = 3;  // as many asterisks around one name are none in prose
  const char sign = text_[at];
  if (!AtWordStart(at) || (at > 0 && text_[at - 1] == sign)) return 0;
  const size_t begin =
      sign == '*' ? text_.find_first_not_of(sign, at) : at + (At(at + 1) == sign ? 2 : 1);
  if (begin == std::string_view::npos) return 0;
  const size_t end =
      RunEnd(begin, [sign](char c) { return IsNameByte(c) && (sign == '*' || !IsAsciiLower(c)); });
  const bool is_field =
      IsCodeWord(text_.substr(begin, end - begin), "field") && At(end + begin - at) != ':';
  if (sign == '*' && begin - at != kEmphasis && !(is_field && begin - at < kEmphasis)) return 0;
  const std::string_view mark = text_.substr(at, begin - at);
  if ((sign == '-' || sign == '=') && mark.size() == 1) return 0;
  const size_t behind = end + mark.size();
  return end > begin + 1 && IsAsciiLetter(text_[begin]) && text_.substr(end, mark.size()) == mark &&
                 At(behind) != sign && !IsNameByte(At(behind))
             ? behind
             : 0;
}

// Reads {name}, { name }, {Your Name}, {0:.2f}, {{ name }}, {% tag %}, {count, plural, ...}; not
// {a remark in braces}.
size_t PlaceholderReader::Braces(size_t at) const {
  if (const size_t tag = Enclosed(at, "{%", "%}") + Enclosed(at, "{#", "#}"); tag > 0) return tag;
  const size_t end = at < closing_.size() ? closing_[at] : 0;
  if (end == 0) return 0;
  const std::string_view inner = text_.substr(at + 1, end - at - 1);
  if (inner.size() <= kMaxMessageBytes && IsMessage(inner)) return end + 1;
  if (inner.size() > kMaxSpanBytes || inner.find('\n') != std::string_view::npos) return 0;
  const bool is_comment = inner.starts_with("/*") && inner.ends_with("*/");
  if (inner.empty() || is_comment || (inner.front() == '{' && inner.back() == '}') ||
      HasSigns(inner))
    return end + 1;
  const size_t space = inner.find(' ');
  if (space == std::string_view::npos || inner.find(',') < space) return end + 1;
  const bool spaced = inner.size() > 2 && inner.starts_with(' ') && inner.ends_with(' ');
  if (spaced && !HasSentence(inner.substr(1, inner.size() - 2))) return end + 1;
  if (IsExpression(inner) && inner.find(". ") == std::string_view::npos) return end + 1;
  return IsTitle(inner) && !HasSentence(inner) ? end + 1 : 0;
}

// Returns true if the text before a place is the beginning of a line, but for [remarks].
bool PlaceholderReader::BeginsLine(size_t at) const {
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
size_t PlaceholderReader::Brackets(size_t at) const {
  if (At(at + 1) == '[') {
    size_t end = Enclosed(at, "[[", "]]");
    if (end > 0 && At(at + 2) == '[' && At(end) == ']') ++end;  // [[[name]]]
    return text_.substr(at, end - std::min(at, end)).find('\n') == std::string_view::npos ? end : 0;
  }
  constexpr size_t kLongest = 40;
  const size_t close = text_.substr(0, at + kLongest).find_first_of("]\n[", at + 1);
  if (At(close) != ']' || At(close + 1) == '(' || At(close + 1) == '[') return 0;
  std::string_view inner = text_.substr(at + 1, close - at - 1);
  if (HasSigns(inner) || IsNote(inner) || IsCodeWord(inner, "field")) return close + 1;
  // An address of IPv6, and its port: [::1]:80
  if (std::ranges::count(inner, ':') > 1 &&
      inner.find_first_not_of("0123456789abcdefABCDEF:.") == std::string_view::npos)
    return At(close + 1) == ':' ? DigitsEnd(text_, close + 2) : close + 1;
  if (inner.size() > 2 && inner.front() == ' ' && inner.back() == ' ')
    inner = inner.substr(1, inner.size() - 2);
  const size_t name_end = NameEnd(at + 2);
  const bool is_tag = name_end > at + 2 && name_end == close && At(at + 1) == '/';
  const bool has_attribute = IsAsciiLetter(At(at + 1)) && inner.find('=') < inner.size() - 1 &&
                             inner.find(" =") == std::string_view::npos;
  if (is_tag || has_attribute) return close + 1;
  // [%name], [$name]
  constexpr std::string_view kSigns = "%$*~";
  const size_t sign = inner.size() > 2 && kSigns.find(inner[0]) != std::string_view::npos ? 1 : 0;
  const bool is_name = !inner.empty() && IsAsciiLetter(inner[sign]) &&
                       std::ranges::all_of(inner.substr(sign), [](char c) {
                         return IsNameByte(c) || c == '-' || c == ':';
                       });
  if (!is_name && (inner.find(' ') == std::string_view::npos || !IsTitle(inner))) return 0;
  const bool begins = BeginsLine(at);
  const size_t behind = std::min(text_.find_first_not_of(' ', close + 1), text_.size());
  const CodePoint next = DecodeAt(text_, behind);
  const bool ends = next.bytes == 0 || next.value == '\n';
  if (begins && (ends || IsUpper(next.value) || next.value == '[')) return 0;
  const bool capitals = std::ranges::none_of(inner, [](char c) { return c >= 'a' && c <= 'z'; });
  const bool behind_colon = at > 1 && text_.substr(at - 2, 2) == ": ";
  return capitals && inner.size() > 1 && ends && !behind_colon ? 0 : close + 1;
}

// Reads |name|, which stands alone.
size_t PlaceholderReader::Pipes(size_t at) const {
  constexpr size_t kLongest = 64;
  if (at > 0 && !IsSpace(DecodeBefore(text_, at).value) && text_[at - 1] != '(') return 0;
  const size_t close = text_.substr(0, at + kLongest).find_first_of("|\n", at + 1);
  if (At(close) != '|' || close == at + 1 || At(at + 1) == ' ' || text_[close - 1] == ' ') return 0;
  return IsWordCharacter(DecodeAt(text_, close + 1).value) || At(close + 1) == '|' ? 0 : close + 1;
}

// Reads what begins with ${: a variable, whatever is in it, such as ${name:-a default}.
size_t PlaceholderReader::DollarBraces(size_t at) const {
  if (const size_t end = Braces(at + 1); end > 0) return end;
  const size_t close = at + 1 < closing_.size() ? closing_[at + 1] : 0;
  if (close == 0 || close - at > kMaxSpanBytes) return 0;
  return text_.substr(at, close - at).find('\n') == std::string_view::npos ? close + 1 : 0;
}

// Reads ${name}, $NAME, $NAME/path, $env:NAME, $it->name, $x^2$, $t(key), $(pwd); not $5.
size_t PlaceholderReader::Dollar(size_t at) const {
  // Velocity: $!name
  if (At(at + 1) == '!' && (At(at + 2) == '{' || IsAsciiLower(At(at + 2)))) ++at;
  if (At(at + 1) == '{') return DollarBraces(at);
  if (const size_t doubled = Doubled(at); doubled > 0) return doubled;
  if (At(at + 1) == '(') return Parentheses(at + 1);
  if (const size_t name = NameBetween(at, "$[", "]"); name > 0) return name;
  if (!IsAsciiLetter(At(at + 1)) && At(at + 1) != '_') return 0;
  size_t end = NameEnd(at + 1);
  // $t(key), $esc.html(x)
  const size_t member = At(end) == '.' ? NameEnd(end + 1) : end;
  if (const size_t call = Parentheses(member); call > 0) return call;
  const std::string_view sign = text_.substr(end, 2);
  const size_t joint = sign == "->" || sign == "::" ? 2 : At(end) == ':' ? 1 : 0;
  if (joint > 0 && IsNameByte(At(end + joint))) {
    end = NameEnd(end + joint);
    if (const size_t call = Parentheses(end); call > 0) return call;
  }
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

// Reads the parts of a time as strftime writes them: %Y-%m-%d %H:%M, %B; returns 0 if it is none.
size_t PlaceholderReader::TimeFormatEnd(size_t at) const {
  constexpr std::string_view kParts = "YymdHIMSBbAajpZz";
  constexpr std::string_view kCertain = "YHMSBA";
  constexpr std::string_view kJoints = "-/:.,T ";
  if (at > 0 && IsAsciiDigit(text_[at - 1])) return 0;
  size_t parts = 0;
  size_t end = at;
  for (size_t next = at;
       At(next) == '%' && At(next + 1) != 0 && kParts.find(At(next + 1)) != std::string_view::npos;
       ++parts) {
    end = next + 2;
    next = At(end) != 0 && kJoints.find(At(end)) != std::string_view::npos ? end + 1 : end;
  }
  const bool certain =
      parts > 1 || (parts == 1 && kCertain.find(text_[at + 1]) != std::string_view::npos);
  return certain && !IsNameByte(At(end)) ? end : 0;
}

// Returns true if a unit touches a placeholder: %sKB, %dpx.
bool PlaceholderReader::IsUnitAt(size_t at) const {
  constexpr std::string_view kUnits =
      " B KB kB MB GB TB Mbps Kbps kbps Hz kHz MHz GHz px em rem pt dp km m cm mm kg g mg ms s h "
      "min "
      "x th kWh mAh W V ";
  const size_t end = LettersEnd(text_, at);
  return end > at && !IsNameByte(At(end)) &&
         kUnits.find(" " + std::string(text_.substr(at, end - at)) + " ") != kUnits.npos;
}

// Reads placeholders of printf, Qt, Python and Ruby: %s, %1$d, %-5.2f, %lld, %(name)s, %<name>s,
// %{name}, %1, %n, %%; but not "5 % of it".
size_t PlaceholderReader::Percent(size_t at) const {
  size_t next = at + 1;
  if (At(next) == '{') return Braces(next);
  if (const size_t doubled = Doubled(at); doubled > 0) return doubled;
  // %name%, %recipient.name%
  if (const size_t end = RunEnd(next, [](char c) { return IsNameByte(c) || c == '.'; });
      IsAsciiLetter(At(next)) && At(end) == '%' && At(end + 1) != '%' && !IsNameByte(At(end + 1)))
    return end + 1;
  if (At(next) == '@' || At(next) == '%') return next + 1;
  if (const size_t format = TimeFormatEnd(at); format > 0) return format;
  if (At(next) == '(' || At(next) == '<' || At(next) == '[') {
    const size_t index = DigitsEnd(text_, next + 1);  // %[1]s
    const bool is_index = At(next) == '[' && index > next + 1 && At(index) == ']';
    next = is_index ? index + 1
                    : std::max({NameBetween(next, "(", ")"), NameBetween(next, "<", ">"),
                                NameBetween(next, "[", "]")});
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
           c == '*' || c == '\'' || c == ',';
  };
  next = RunEnd(next, part, 12);
  next = RunEnd(
      next, [](char c) { return c == 'l' || c == 'h' || c == 'z' || c == 'L'; }, 2);
  constexpr std::string_view kConversions = "sdiufFeEgGxXocpn@vqTtwb";
  const char conversion = At(next);
  const bool converts = conversion != 0 && kConversions.find(conversion) != std::string_view::npos;
  if (converts && (!IsNameByte(At(next + 1)) || IsUnitAt(next + 1))) return next + 1;
  return is_qt ? number_end : 0;
}

}  // namespace millrace::models
