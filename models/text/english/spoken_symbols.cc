#include "models/text/english/spoken_symbols.h"

#include "models/text/ascii.h"
#include "models/text/sign_names.h"

namespace millrace::models {
namespace {

constexpr SignName<std::string_view> kPauseMarks[] = {
    {U";；", ";"}, {U":：", ":"}, {U",、，", ","}, {U".。", "."}, {U"!！", "!"}, {U"?？", "?"},
    {U"–—―", "—"}, {U"…", "…"},   {U"([{", "("},   {U")]}", ")"}, {U"“„«", "“"}, {U"”»", "”"}};

constexpr SignName<std::string_view> kSymbolNames[] = {{U"&∧", "and"},
                                                       {U"+", "plus"},
                                                       {U"=", "equals"},
                                                       {U"@", "at"},
                                                       {U"%", "percent"},
                                                       {U"<", "less than"},
                                                       {U">", "greater than"},
                                                       {U"$", "dollar"},
                                                       {U"\\", "backslash"},
                                                       {U"¢", "cents"},
                                                       {U"£", "pound"},
                                                       {U"§", "section"},
                                                       {U"©", "copyright"},
                                                       {U"°", "degrees"},
                                                       {U"®", "registered"},
                                                       {U"±", "plus or minus"},
                                                       {U"²", "squared"},
                                                       {U"³", "cubed"},
                                                       {U"×", "times"},
                                                       {U"÷", "divided by"},
                                                       {U"€", "euro"},
                                                       {U"−", "minus"},
                                                       {U"™", "trademark"},
                                                       {U"‰", "per thousand"},
                                                       {U"₿", "bitcoin"},
                                                       {U"№", "number"},
                                                       {U"∑", "the sum"},
                                                       {U"√", "the square root of"},
                                                       {U"∛", "the cube root of"},
                                                       {U"∜", "the fourth root of"},
                                                       {U"∞", "infinity"},
                                                       {U"∫", "the integral"},
                                                       {U"¶", "paragraph"},
                                                       {U"℃", "degrees celsius"},
                                                       {U"℉", "degrees fahrenheit"},
                                                       {U"ℂ", "the complex numbers"},
                                                       {U"ℕ", "the natural numbers"},
                                                       {U"ℚ", "the rational numbers"},
                                                       {U"ℝ", "the real numbers"},
                                                       {U"ℤ", "the integers"},
                                                       {U"∀", "for all"},
                                                       {U"∂", "partial"},
                                                       {U"∃", "there is"},
                                                       {U"∅", "the empty set"},
                                                       {U"∈", "is in"},
                                                       {U"∉", "is not in"},
                                                       {U"∩", "intersection"},
                                                       {U"∪", "union"},
                                                       {U"∨", "or"},
                                                       {U"¬", "not"},
                                                       {U"⊂", "is a subset of"},
                                                       {U"≡", "is identical to"},
                                                       {U"∝", "is proportional to"},
                                                       {U"∠", "angle"},
                                                       {U"⊥", "is perpendicular to"},
                                                       {U"∥", "is parallel to"},
                                                       {U"△", "triangle"},
                                                       {U"∴", "therefore"},
                                                       {U"≈", "is about"},
                                                       {U"≠", "is not equal to"},
                                                       {U"⌘", "command"},
                                                       {U"⌥", "option"},
                                                       {U"⇧", "shift"},
                                                       {U"≤", "less than or equal to"},
                                                       {U"≥", "greater than or equal to"}};

// Returns true for most of what a text has, so that it is not looked for in the tables.
bool IsPlain(char32_t c) { return c == ' ' || (c < 0x80 && IsAsciiAlnum(static_cast<char>(c))); }

}  // namespace

std::string_view PauseMark(char32_t c, bool opens) {
  if (IsPlain(c)) return {};
  if (c == '"') return opens ? "“" : "”";
  return NameOfSign(kPauseMarks, c);
}

std::string_view SymbolName(char32_t c, bool before_digit) {
  if (IsPlain(c)) return {};
  if (c == '#') return before_digit ? "number" : "hashtag";
  if (c == '~') return before_digit ? "about" : "";
  return NameOfSign(kSymbolNames, c);
}

}  // namespace millrace::models
