#include "models/text/english/powers.h"

#include <utility>

#include "models/text/ascii.h"
#include "models/text/sign_names.h"
#include "models/text/unicode.h"

namespace millrace::models {
namespace {

constexpr size_t kMaxDigits = 4;

constexpr SignName<char> kSuperscripts[] = {{U"⁰", '0'}, {U"¹", '1'}, {U"²", '2'}, {U"³", '3'},
                                            {U"⁴", '4'}, {U"⁵", '5'}, {U"⁶", '6'}, {U"⁷", '7'},
                                            {U"⁸", '8'}, {U"⁹", '9'}, {U"⁺", '+'}, {U"⁻", '-'}};

// Returns the ASCII digit or sign of a superscript character; 0 for others.
char FromSuperscript(char32_t c) { return NameOfSign(kSuperscripts, c); }

}  // namespace

std::vector<std::string> PowerWords(const NumberWords& numbers, bool negative,
                                    std::string_view digits) {
  if (!negative && digits == "2") return {"squared"};
  if (!negative && digits == "3") return {"cubed"};
  std::vector<std::string> words = {"to", "the"};
  if (negative) words.emplace_back("minus");
  const bool ordinal = !negative && digits != "0";
  for (std::string& word : ordinal ? numbers.Ordinal(ParseDigits(digits)) : numbers.Whole(digits))
    words.push_back(std::move(word));
  return words;
}

std::optional<Reading> ReadSuperscript(const NumberWords& numbers, std::string_view text,
                                       size_t at) {
  std::string written;
  size_t end = at;
  while (written.size() <= kMaxDigits) {
    const CodePoint c = DecodeAt(text, end);
    const char plain = c.bytes > 0 ? FromSuperscript(c.value) : '\0';
    if (plain == '\0') break;
    written += plain;
    end += c.bytes;
  }
  if (written.empty()) return std::nullopt;
  const char last = written.back();
  if (last == '+' || last == '-') {
    written.pop_back();
    Reading charge{end, {}};
    if (DigitsEnd(written, 0) == written.size() && !written.empty())
      charge.Append(numbers.Whole(written));
    charge.Append(last == '+' ? "plus" : "minus");
    return charge;
  }
  // An isotope: "²³⁵U".
  const bool free = at == 0 || IsSpace(DecodeBefore(text, at).value);
  if (free && IsAsciiUpper(ByteAt(text, end)) && DigitsEnd(written, 0) == written.size())
    return Reading{end, numbers.Whole(written)};
  // The upper limit of an integral or a sum: "∫₀¹ x dx".
  const size_t lower = at > 0 && IsAsciiDigit(text[at - 1]) ? at - 1 : at;
  if (lower < at && DigitsEnd(written, 0) == written.size() &&
      (text.substr(0, lower).ends_with("∫") || text.substr(0, lower).ends_with("∑"))) {
    Reading limit{end, {"to"}};
    limit.Append(numbers.Whole(written));
    limit.Append("of");
    return limit;
  }
  const bool negative = written.front() == '-';
  const std::string_view digits =
      std::string_view(written).substr(negative || written.front() == '+' ? 1 : 0);
  if (digits.empty() || DigitsEnd(digits, 0) != digits.size()) return std::nullopt;
  return Reading{end, PowerWords(numbers, negative, digits)};
}

std::optional<Reading> ReadCaret(const NumberWords& numbers, std::string_view text, size_t at) {
  // "[^1]" is the mark of a footnote.
  // "10**6" and "x**2" are powers as programmers write them, but "**3" begins bold text.
  const bool stars = text.substr(at, 2) == "**" && at > 0 && IsAsciiAlnum(text[at - 1]) &&
                     IsAsciiDigit(ByteAt(text, at + 2)) &&
                     (at == 1 || !IsAsciiLetter(text[at - 1]) || !IsAsciiAlnum(text[at - 2]));
  if ((ByteAt(text, at) != '^' && !stars) || (at > 0 && text[at - 1] == '[')) return std::nullopt;
  // "e^(x + 1)".
  if (!stars && ByteAt(text, at + 1) == '(' && at > 0 && IsAsciiAlnum(text[at - 1]))
    return Reading{at + 1, {"to", "the"}};
  const bool braced = ByteAt(text, at + 1) == '{';
  size_t begin = at + (braced || stars ? 2 : 1);
  const bool negative = ByteAt(text, begin) == '-';
  if (negative) ++begin;
  const size_t end = DigitsEnd(text, begin, kMaxDigits + 1);
  // The charge of an ion: "SO4^2-", "NO3^-", "Ca^{2+}".
  const size_t sign = negative && end == begin ? begin - 1 : end;
  const char charge = ByteAt(text, sign);
  if (!stars && at > 1 && (IsAsciiUpper(text[at - 1]) || IsAsciiLetter(text[at - 2])) &&
      end - begin < 2 && (charge == '+' || charge == '-') && (!negative || end == begin) &&
      !IsAsciiAlnum(ByteAt(text, sign + 1)) && ByteAt(text, sign + 1) != '(') {
    Reading reading{sign + 1 + (braced && ByteAt(text, sign + 1) == '}' ? 1 : 0), {}};
    if (end > begin) reading.Append(numbers.Digits(text.substr(begin, end - begin)));
    reading.Append(charge == '+' ? "plus" : "minus");
    return reading;
  }
  if (end == begin && at > 0 && IsAsciiAlnum(text[at - 1]) && IsAsciiLower(ByteAt(text, begin)) &&
      !IsAsciiAlnum(ByteAt(text, begin + 1))) {
    // "e^x" is "e to the x".
    Reading reading{begin + 1, {"to", "the"}};
    if (negative) reading.Append("minus");
    reading.Append(text.substr(begin, 1));
    if (braced && ByteAt(text, reading.end) == '}') ++reading.end;
    return reading;
  }
  if (end == begin || end - begin > kMaxDigits) return std::nullopt;
  const bool closed = braced && ByteAt(text, end) == '}';
  return Reading{end + (closed ? 1 : 0),
                 PowerWords(numbers, negative, text.substr(begin, end - begin))};
}

}  // namespace millrace::models
