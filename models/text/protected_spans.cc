#include "models/text/protected_spans.h"

#include <algorithm>
#include <array>
#include <optional>

#include "models/text/ascii.h"
#include "models/text/unicode.h"

namespace millrace::models {
namespace {

// Placeholders and pieces of code within a sentence are shorter; a bounded look-ahead keeps the
// time linear.
constexpr size_t kMaxSpanBytes = 256;
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
bool IsPathByte(char c) { return IsNameByte(c) || c == '.' || c == '-' || c == '~' || c == '+'; }

// Returns the length of the pattern that begins at a place; 0 if none begins there. The reader has
// the whole text, because a pattern also depends on the text before it.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  size_t EndAt(size_t at) const {
    const char c = text_[at];
    switch (c) {
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
        return Tag(at);
      case '/':
      case '~':
      case '.':
        return AtWordStart(at) ? Path(at) : 0;
      default:
        if (static_cast<unsigned char>(c) >= 0xE2) return Emoji(at);
        return IsNameByte(c) && AtWordStart(at) ? Word(at) : 0;
    }
  }

 private:
  char At(size_t at) const { return ByteAt(text_, at); }
  bool AtWordStart(size_t at) const {
    if (at == 0) return true;
    const char32_t before = DecodeBefore(text_, at).value;
    return !IsWordCharacter(before) && before != '_' && before != '/' && before != '.' &&
           before != '@' && before != '\\';
  }
  template <typename Holds>
  size_t RunEnd(size_t at, const Holds& holds, size_t longest = kMaxSpanBytes) const {
    const size_t limit = std::min(text_.size(), at + longest);
    while (at < limit && holds(text_[at])) ++at;
    return at;
  }
  size_t NameEnd(size_t at) const { return RunEnd(at, IsNameByte); }

  // Reads {name}, {0:.2f}, {{ name }}, {count, plural, ...}; not {a remark in braces}.
  size_t Braces(size_t at) const {
    size_t depth = 0;
    size_t end = at;
    for (; end < std::min(text_.size(), at + kMaxSpanBytes); ++end) {
      if (text_[end] == '{') ++depth;
      if (text_[end] == '}' && --depth == 0) break;
      if (text_[end] == '\n') return 0;
    }
    if (depth > 0 || At(end) != '}') return 0;
    const std::string_view inner = text_.substr(at + 1, end - at - 1);
    if (inner.empty() || (inner.front() == '{' && inner.back() == '}')) return end + 1;
    const size_t space = inner.find(' ');
    return space == std::string_view::npos || inner.find(',') < space ? end + 1 : 0;
  }

  // Reads ${name}, $NAME; not $5.
  size_t Dollar(size_t at) const {
    if (At(at + 1) == '{') return Braces(at + 1);
    return IsAsciiLetter(At(at + 1)) || At(at + 1) == '_' ? NameEnd(at + 1) : 0;
  }

  // Reads placeholders of printf: %s, %1$d, %-5.2f, %lld, %(name)s, %{name}; but not "5 % of it".
  size_t Percent(size_t at) const {
    size_t next = at + 1;
    if (At(next) == '{') return Braces(next);
    if (At(next) == '@') return next + 1;
    if (At(next) == '(') {
      next = NameEnd(next + 1);
      if (At(next) != ')') return 0;
      ++next;
    } else if (at > 0 && IsAsciiDigit(text_[at - 1])) {
      return 0;
    }
    const auto part = [](char c) {
      return IsAsciiDigit(c) || c == '$' || c == '.' || c == '-' || c == '+' || c == '#' ||
             c == '*';
    };
    next = RunEnd(next, part, 12);
    next = RunEnd(
        next, [](char c) { return c == 'l' || c == 'h' || c == 'z'; }, 2);
    constexpr std::string_view kConversions = "sdiufFeEgGxXoc@";
    const char conversion = At(next);
    if (conversion == 0 || kConversions.find(conversion) == std::string_view::npos) return 0;
    return IsNameByte(At(next + 1)) ? 0 : next + 1;
  }

  // Reads :name:, :name.
  size_t Colon(size_t at) const {
    if (!AtWordStart(at) || (at > 0 && At(at - 1) == ':') || !IsAsciiLetter(At(at + 1))) return 0;
    size_t end = NameEnd(at + 1);
    if (At(end) == ':') ++end;
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

  // Reads @somebody, #topic, #123.
  size_t Tag(size_t at) const {
    if (at > 0 && (!AtWordStart(at) || text_[at - 1] == '&' || text_[at - 1] == '#')) return 0;
    size_t end = at + 1;
    for (CodePoint c = DecodeAt(text_, end);
         end - at < kMaxSpanBytes && (IsWordCharacter(c.value) || c.value == '_');
         c = DecodeAt(text_, end)) {
      end += c.bytes;
    }
    return end > at + 1 ? end : 0;
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

  // Reads patterns that begin with a letter, digit or _.
  size_t Word(size_t at) const {
    const size_t letters = RunEnd(at, IsAsciiLetter, 16);
    if (letters > at && text_.substr(letters, 3) == "://") return Address(at, letters + 3);
    if (text_.substr(at, 7) == "mailto:") return Address(at, at + 7);
    if (text_.substr(at, 4) == "www." && IsAsciiAlnum(At(at + 4))) return Address(at, at + 4);
    if (letters == at + 1 && text_.substr(letters, 2) == ":\\") {
      return Trimmed(
          at, RunEnd(
                  letters, [](char c) { return IsPathByte(c) || c == '\\' || c == ':'; }, 1024));
    }
    const size_t end = RunEnd(at, IsPathByte);
    if (At(end) == '@') {
      const size_t mail = Mail(end + 1);
      if (mail > 0) return mail;
    }
    if (At(end) == '(' && At(end + 1) == ')') return end + 2;
    return Name(at, end);
  }

  // Reads adjacent emoji, with the marks that join and colour them.
  size_t Emoji(size_t at) const {
    size_t end = at;
    for (CodePoint c = DecodeAt(text_, at); c.bytes > 0; c = DecodeAt(text_, end)) {
      const bool emoji = (c.value >= 0x1F000 && c.value < 0x1FB00) ||
                         (c.value >= 0x2600 && c.value < 0x27C0) || c.value == U'⭐';
      const bool joiner = c.value == 0x200D || c.value == 0xFE0F;
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
    return Among(ending, kFileEndings) || Among(ending, kDomainEndings);
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
};

}  // namespace

std::vector<ProtectedSpan> FindProtectedSpans(std::string_view text, const TermIndex& terms) {
  std::vector<ProtectedSpan> spans;
  const Reader reader(text);
  for (size_t at = 0; at < text.size();) {
    const size_t end = reader.EndAt(at);  // at most `at`: there is no pattern
    const auto term = terms.empty() ? std::nullopt : terms.Find(text, at);
    if (term && term->end >= end) {
      const std::string_view own = text.substr(at, term->end - at);
      spans.push_back({at, term->end, term->becomes.empty() ? own : term->becomes});
      at = term->end;
    } else if (end > at) {
      spans.push_back({at, end, text.substr(at, end - at)});
      at = end;
    } else {
      at += DecodeAt(text, at).bytes;
    }
  }
  return spans;
}

}  // namespace millrace::models
