#include "models/text/protected_spans.h"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "models/text/address.h"
#include "models/text/ascii.h"
#include "models/text/clause_number.h"
#include "models/text/code_fragment.h"
#include "models/text/code_statement.h"
#include "models/text/code_token.h"
#include "models/text/function_call.h"
#include "models/text/key_combination.h"
#include "models/text/pattern_text.h"
#include "models/text/placeholder.h"
#include "models/text/reference_code.h"
#include "models/text/signed_name.h"
#include "models/text/unicode.h"

namespace millrace::models {
namespace {

// Returns the end of the pattern that begins at a place; 0 if none begins there.
class Reader final : PatternText {
 public:
  explicit Reader(const PatternText& text)
      : PatternText(text), placeholders_(text), addresses_(text) {}

  // Returns true for a pattern into which a program puts text, so that what touches it belongs to
  // it: v%s, {0}km.
  bool IsPlaceholder(size_t at) const {
    const char c = text_[at];
    return (c == '{' && At(at + 1) != '\\') || c == '%' ||
           ((c == '$' || c == '#' || c == '@') && At(at + 1) == '{');
  }

  size_t EndAt(size_t at) const {
    if (!AtTokenStart(at)) return PatternEnd(at);
    if (const size_t statement = CodeStatementEnd(text_, at); statement > at) return statement;
    if (const size_t fragment = CodeFragmentEnd(text_, at); fragment > at) return fragment;
    if (const size_t face = FaceEnd(at); face > 0) return face;
    if (const size_t end = PatternEnd(at); end > at) return end;
    const size_t name = SignedNameEnd(*this, at);
    return name > at ? name : CodeTokenEnd(text_, at);
  }

 private:
  size_t PatternEnd(size_t at) const {
    if (const size_t placeholder = placeholders_.EndAt(at); placeholder > 0) return placeholder;
    const char c = text_[at];
    switch (c) {
      case ':':
        return Colon(at);
      case ';':
        return Emoticon(at);
      case '+':
      case '(':
        return AtTokenStart(at) ? ReferenceCodeEnd(*this, at) : PluralEnd(at);
      case '`':
        return Code(at);
      case '@':
      case '#':
        return Tag(at);
      case '&':
        return EscapedTag(at);
      case '!':
        return AtTokenStart(at) && IsAsciiLower(At(at + 1)) ? NameOfTwo(at + 1) : 0;
      case '-':
        return AtTokenStart(at) ? Option(at) : 0;
      case '/':
        if (const size_t end = std::max(Enclosed(at, "/*", "*/"), NameWithin(at, "//"));
            end > 0 && AtTokenStart(at))
          return end;
        [[fallthrough]];
      case '~':
      case '.':
        return AtWordStart(at)
                   ? std::max({addresses_.Path(at), addresses_.DotName(at), Directive(at)})
                   : 0;
      default:
        if (static_cast<unsigned char>(c) >= 0xE2)
          return std::max(Emoji(at), KeyCombinationEnd(*this, at));
        return IsNameByte(c) && AtWordStart(at) ? Word(at) : 0;
    }
  }

  // Reads a name with the same signs on both sides. Between spaces, they separate the items of a
  // list.
  size_t NameWithin(size_t at, std::string_view signs) const {
    return At(at + signs.size()) == ' ' ? 0 : NameBetween(at, signs, signs);
  }

  // Reads a face that is drawn with signs of several scripts, or with letters.
  size_t FaceEnd(size_t at) const {
    constexpr std::array<std::string_view, 19> kFaces = {
        "¯\\_(ツ)_/¯", "(╯°□°)╯︵ ┻━┻", "┬─┬ノ( º _ ºノ)",
        "ಠ_ಠ",         "(ツ)",          "(◕‿◕)",
        "(^_^)",       "(>_<)",         "^_^",
        "-_-",         ">_<",           "T_T",
        "o_O",         "O_o",           ":'(",
        ">:(",         "\\o/",          "</3",
        "<3"};
    const auto* const face = std::ranges::find_if(
        kFaces, [&](std::string_view drawn) { return text_.substr(at).starts_with(drawn); });
    if (face == kFaces.end()) return 0;
    const size_t end = at + face->size();
    return IsNameByte(At(end)) ? 0 : end;
  }

  // Returns the end of a name of two letters or more, 0 if there is none.
  size_t NameOfTwo(size_t at) const {
    const size_t end = NameEnd(at);
    return end > at + 1 ? end : 0;
  }

  // Reads the ending of a plural that may be: file(s), box(es).
  size_t PluralEnd(size_t at) const {
    if (at == 0 || !IsLower(DecodeBefore(text_, at).value)) return 0;
    for (const std::string_view ending : {"(s)", "(es)"}) {
      const size_t end = at + ending.size();
      if (text_.substr(at).starts_with(ending) && !IsWordCharacter(DecodeAt(text_, end).value))
        return end;
    }
    return 0;
  }

  // Reads an option of a command: --force, --color=auto. A word between dashes is a remark.
  size_t Option(size_t at) const {
    constexpr size_t kMostLetters = 4;
    // Letters behind one dash are an option where they stand alone: "-rf"
    if (const size_t end = RunEnd(at + 1, IsAsciiLetter);
        end > at + 1 && end - at <= 1 + kMostLetters && at > 0 && IsQuote(text_[at - 1]) &&
        At(end) == text_[at - 1])
      return end;
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

  // Reads a tag that is written with entities: &lt;b&gt;, &lt;/a&gt;, and an entity: &nbsp;
  size_t EscapedTag(size_t at) const {
    constexpr size_t kLongest = 128;
    constexpr size_t kLongestEntity = 8;
    if (const size_t name = RunEnd(at + 1, IsAsciiLetter);
        name > at + 2 && name - at <= kLongestEntity && At(name) == ';' &&
        text_.substr(at, 4) != "&lt;" && text_.substr(at, 4) != "&gt;")
      return name + 1;
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

  // Reads a directive of reStructuredText: .. note::
  size_t Directive(size_t at) const {
    if ((at > 0 && text_[at - 1] != '\n') || text_.substr(at, 3) != ".. ") return 0;
    const size_t end = RunEnd(at + 3, [](char c) { return IsNameByte(c) || c == '-'; });
    return end > at + 3 && text_.substr(end, 2) == "::" ? end + 2 : 0;
  }

  // Reads a face such as :-) or :D, which stands alone, and :+1:.
  size_t Emoticon(size_t at) const {
    constexpr std::string_view kMouths = ")(DPpOo|/\\*3";
    if (!AtTokenStart(at)) return 0;
    if ((At(at + 1) == '+' || At(at + 1) == '-') && At(at + 2) == '1' && At(at + 3) == ':')
      return at + 4;
    const size_t mouth = at + (At(at + 1) == '-' ? 2 : 1);
    const char behind = At(mouth + 1);
    return At(mouth) != '\0' && kMouths.find(At(mouth)) != std::string_view::npos &&
                   !IsNameByte(behind) && behind != '/' && behind != ':'
               ? mouth + 1
               : 0;
  }

  // Reads :name:, :name, ::name::.
  size_t Colon(size_t at) const {
    if (const size_t face = Emoticon(at); face > 0) return face;
    if (const size_t name = NameWithin(at, "::"); name > 0) return name;
    // The number of an emoji: :100:
    if (const size_t digits = DigitsEnd(text_, at + 1);
        AtTokenStart(at) && digits > at + 1 && At(digits) == ':' && !IsAsciiDigit(At(digits + 1)))
      return digits + 1;
    if (!AtWordStart(at) || (at > 0 && At(at - 1) == ':') || !IsAsciiLetter(At(at + 1))) return 0;
    size_t end = NameEnd(at + 1);
    // The name of an emoji may have parts: :flag-br:
    if (const size_t whole = RunEnd(at + 1, [](char c) { return IsNameByte(c) || c == '-'; });
        At(whole) == ':')
      end = whole;
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

  // Reads @somebody, @group/team, @+id/name, @:key, @.lower:key, @if(x), #topic, #123.
  size_t Tag(size_t at) const {
    if (at > 0 && (!AtWordStart(at) || text_[at - 1] == '&' || text_[at - 1] == '#')) return 0;
    const bool is_at = text_[at] == '@';
    if (const size_t modifier = NameEnd(at + 2); is_at && At(at + 1) == '.' && modifier > at + 2)
      return At(modifier) == ':' ? Trimmed(at, RunEnd(modifier + 1, IsPathByte)) : 0;
    const size_t begin = at + (is_at && (At(at + 1) == ':' || At(at + 1) == '+') ? 2 : 1);
    size_t end = begin;
    for (CodePoint c = DecodeAt(text_, end); end - at < kMaxSpanBytes; c = DecodeAt(text_, end)) {
      // Android has @android:string/ok.
      const bool joins_kind = c.value == ':' && At(NameEnd(end + 1)) == '/';
      const bool joins = is_at && end > begin &&
                         (c.value == '/' || c.value == '.' || c.value == '-' || joins_kind) &&
                         IsAsciiLetter(At(end + 1));
      if (!joins && !IsWordCharacter(c.value) && c.value != '_') break;
      end += c.bytes;
    }
    if (const size_t call = is_at ? Parentheses(end) : 0; call > 0) return call;
    return end > begin ? end : 0;
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

  // Reads a date of ISO 8601, which all languages write alike: 2024-05-01, 2024-05-01T12:30:00Z;
  // returns 0 if it is none.
  size_t DateEnd(size_t at) const {
    const auto digits = [this](size_t from, size_t count) {
      return DigitsEnd(text_, from) == from + count;
    };
    constexpr size_t kDate = 10;  // bytes
    if (!digits(at, 4) || At(at + 4) != '-' || !digits(at + 5, 2) || At(at + 7) != '-' ||
        !digits(at + 8, 2))
      return 0;
    size_t end = at + kDate;
    if (At(end) == 'T' && IsAsciiDigit(At(end + 1))) {
      end = RunEnd(end + 1, [](char c) {
        return IsAsciiDigit(c) || c == ':' || c == '.' || c == '+' || c == '-' || c == 'Z';
      });
      end = Trimmed(at, end);
    }
    return IsNameByte(At(end)) || At(end) == '-' ? 0 : end;
  }

  // Reads patterns that begin with a letter, digit or _.
  size_t Word(size_t at) const {
    // A percentage in a format string: 100%%
    if (const size_t digits = DigitsEnd(text_, at); digits > at && text_.substr(digits, 2) == "%%")
      return digits + 2;
    if (const size_t product = ProductEnd(at); product > 0) return product;
    if (const size_t date = DateEnd(at); date > 0) return date;
    // Names of groups and people: r/place, u/name
    if ((text_[at] == 'r' || text_[at] == 'u') && At(at + 1) == '/' && NameEnd(at + 2) > at + 4)
      return NameEnd(at + 2);
    if (const size_t number = ClauseNumberEnd(*this, at); number > 0) return number;
    if (const size_t keys = KeyCombinationEnd(*this, at); keys > 0) return keys;
    if (const size_t code = ReferenceCodeEnd(*this, at); code > 0) return code;
    if (const size_t address = addresses_.Address(at); address > 0) return address;
    const size_t end = RunEnd(at, IsPathByte);
    if (const size_t call = FunctionCallEnd(*this, at, end); call > 0) return call;
    return addresses_.Name(at, end);
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

  const PlaceholderReader placeholders_;
  const AddressReader addresses_;
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
  // Signs of ordinal numbers, degrees, percentages and sums: {0}º, {0}°C, {0}%, {0}€
  constexpr std::u32string_view kSigns = U"ºª°%‰€£";
  const CodePoint c = DecodeAt(text, end);
  if (end > at || c.bytes == 0 || kSigns.find(c.value) == kSigns.npos) return end;
  // The sign may begin another placeholder: %s%d, {a}%{b}
  constexpr std::string_view kOpening = "%{(<@";
  const char behind = ByteAt(text, end + c.bytes);
  if (c.value == U'%' &&
      (IsNameByte(behind) || (behind != 0 && kOpening.find(behind) != kOpening.npos)))
    return end;
  end += c.bytes;
  return IsAsciiUpper(ByteAt(text, end)) && !IsNameByte(ByteAt(text, end + 1)) ? end + 1 : end;
}

// Returns the end of the path that goes on behind a part of it: /users/{id}/posts
size_t PathEnd(std::string_view text, size_t at) {
  constexpr std::string_view kMarks = ".-~+";
  const size_t begin = at;
  while (at < text.size() &&
         (IsPathByte(text[at]) || text[at] == '/' || text[at] == '{' || text[at] == '}'))
    ++at;
  while (at > begin && kMarks.find(text[at - 1]) != kMarks.npos) --at;
  return at;
}

// Returns true for a code of a subtitle before its words, {y:i}, {c:$0000ff} or the frames {1}{25},
// which no letters belong to.
bool IsSubtitleCode(std::string_view text, size_t at, size_t end) {
  if (text[at] != '{' || end - at < 3) return false;
  const std::string_view inner = text.substr(at + 1, end - at - 2);
  if (inner.size() > 2 && IsAsciiLetter(inner[0]) && inner[1] == ':')
    return at == 0 || text[at - 1] == '\n' || text[at - 1] == '|' || text[at - 1] == '}';
  const bool is_second = at > 1 && text[at - 1] == '}' && IsAsciiDigit(text[at - 2]);
  return is_second && std::ranges::all_of(inner, IsAsciiDigit);
}

// Signs that belong to the placeholder behind them.
constexpr std::u32string_view kSignsBefore = U"#&@+€£¥№±≈";

constexpr std::string_view kScheme = "://";

// Returns true if what stands between two placeholders joins them: one sign, as in %d:%d, {a}/{b}
// and {a}–{b}, or a part of a path, as in {a}/static/{b}.
bool IsJoint(std::string_view between) {
  constexpr std::u32string_view kJoints = U":/-.,x_=+|–—×·÷→…";
  const CodePoint c = DecodeAt(between, 0);
  if (c.bytes == 0 || kJoints.find(c.value) == kJoints.npos) return false;
  return c.bytes == between.size() ||
         (c.value == U'/' && std::ranges::all_of(between.substr(1), [](char sign) {
            return IsPathByte(sign) || sign == '/';
          }));
}

}  // namespace

std::vector<ProtectedSpan> FindProtectedSpans(std::string_view text, const TermIndex& terms,
                                              const PatternOptions& options) {
  std::vector<ProtectedSpan> spans;
  const Reader reader(PatternText{text, options});
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
      // A sum or another sign of what stands there: US${0}, R$ %s, #{0}, +{0}; or a scheme.
      if (placeholder && begin == at && begin > free) {
        const std::string_view before = text.substr(free, begin - free);
        const CodePoint sign = DecodeBefore(text, begin);
        if (before.ends_with('$') || before.ends_with("$ ")) {
          begin = TouchingBegin(text, begin - (sign.value == U'$' ? 1 : 2), free);
        } else if (before.ends_with(kScheme)) {
          begin = TouchingBegin(text, begin - kScheme.size(), free);
        } else if (kSignsBefore.find(sign.value) != kSignsBefore.npos) {
          begin -= sign.bytes;
        }
      }
      at = placeholder && !IsSubtitleCode(text, at, end) ? TouchingEnd(text, end) : end;
      // It belongs to the path before it, or signs join it to the placeholder before it.
      if (placeholder &&
          (after_placeholder ? IsJoint(text.substr(free, begin - free))
                             : begin > 0 && free == begin && text[begin - 1] == '/')) {
        begin = spans.back().begin;
        spans.pop_back();
      }
      const std::string_view whole = text.substr(begin, at - begin);
      if (placeholder && whole.find('/') != whole.npos) at = PathEnd(text, at);
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
