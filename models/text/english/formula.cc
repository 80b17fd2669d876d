#include "models/text/english/formula.h"

#include <algorithm>

#include "models/text/ascii.h"
#include "models/text/english/one_of.h"
#include "models/text/english/word_kinds.h"
#include "models/text/unicode.h"

namespace millrace::models {
namespace {

// Returns true if a charge such as "⁺" or "²⁻" is there.
bool IsCharge(std::string_view text, size_t at) {
  for (size_t digits = 0; digits < 2; ++digits) {
    const CodePoint c = DecodeAt(text, at);
    if (c.value == 0x207A || c.value == 0x207B) return true;
    const bool digit =
        c.value == 0xB2 || c.value == 0xB3 || (c.value >= 0x2074 && c.value <= 0x2079);
    if (!digit) return false;
    at += c.bytes;
  }
  return false;
}

bool IsElement(std::string_view symbol) { return IsOfKind(symbol, "element"); }

}  // namespace

bool IsFormula(std::string_view text, size_t begin, size_t end) {
  constexpr size_t kMaxBytes = 12;
  if (end - begin < 2 || end - begin > kMaxBytes || !IsAsciiUpper(text[begin])) return false;
  // "Pu-239", "Cs-137" and the ions "Ca2+" and "Na+".
  const bool isotope = ByteAt(text, end) == '-' &&
                       DigitsEnd(text.substr(0, end + 5), end + 1) > end + 2 &&
                       (IsElement(text.substr(begin, end - begin)) ||
                        IsListed(text.substr(begin, end - begin), " Am Cs Po Pu Ra Rn Tc Th Xe "));
  const size_t charge = end + 1;
  const bool ion = IsAsciiDigit(ByteAt(text, end)) &&
                   (ByteAt(text, charge) == '+' || ByteAt(text, charge) == '-') &&
                   !IsAsciiAlnum(ByteAt(text, charge + 1));
  const bool single = ByteAt(text, end) == '+' && !IsAsciiAlnum(ByteAt(text, end + 1)) &&
                      IsListed(text.substr(begin, end - begin), " Ag Cs Cu Li Na Rb ");
  if (end - begin == 2 && (isotope || single || (ion && IsElement(text.substr(begin, 2)))))
    return true;
  const bool charged = IsCharge(text, end);
  // The "OH" of "C2H5OH" goes on with the formula.
  const bool goes_on = begin > 1 && IsAsciiDigit(text[begin - 1]) && IsAsciiUpper(text[begin - 2]);
  // "NaCl": a small letter before the last symbol.
  const bool mixed = std::any_of(text.begin() + static_cast<ptrdiff_t>(begin + 1),
                                 text.begin() + static_cast<ptrdiff_t>(end), IsAsciiUpper) &&
                     IsAsciiLower(text[begin + 1]) && text.substr(begin, end - begin) != "NaN";
  // The "Fe" of "Fe2O3".
  const bool leads = IsAsciiDigit(ByteAt(text, end)) && IsAsciiUpper(ByteAt(text, end + 1));
  // The "Mg" and "OH" of "Mg(OH)2", the "Al" of "Al2(SO4)3".
  const bool in_group = begin > 0 && ByteAt(text, end) == ')' &&
                        IsAsciiDigit(ByteAt(text, end + 1)) &&
                        FormulaGroupEnd(text, begin - 1) == end;
  const size_t group = DigitsEnd(text, end, 2);
  const bool grouped = in_group || (ByteAt(text, group) == '(' && FormulaGroupEnd(text, group) > 0);
  if (!charged && !goes_on && !mixed && !grouped && !IsAsciiDigit(ByteAt(text, end))) return false;
  size_t symbols = 0;
  for (size_t at = begin; at < end; ++symbols) {
    const size_t size = at + 1 < end && IsAsciiLower(text[at + 1]) ? 2 : 1;
    if (!IsElement(text.substr(at, size))) return false;
    at += size;
  }
  return symbols > 1 || charged || grouped || (leads && end - begin == 2);
}

size_t FormulaGroupEnd(std::string_view text, size_t at) {
  constexpr size_t kMaxBytes = 12;
  if (ByteAt(text, at) != '(') return 0;
  const std::string_view near = text.substr(0, at + kMaxBytes);
  size_t symbols = 0;
  size_t end = at + 1;
  while (IsAsciiUpper(ByteAt(near, end))) {
    const size_t size = IsAsciiLower(ByteAt(near, end + 1)) ? 2 : 1;
    if (!IsElement(near.substr(end, size))) return 0;
    ++symbols;
    end = DigitsEnd(near, end + size);
  }
  const bool closed = ByteAt(near, end) == ')' && IsAsciiDigit(ByteAt(text, end + 1));
  const bool led = at > 0 && IsAsciiAlnum(text[at - 1]);
  return closed && symbols > (led ? 0U : 1U) ? end : 0;
}

}  // namespace millrace::models
