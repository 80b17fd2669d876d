#include "models/text/english/units.h"

#include <algorithm>

#include "models/core/embedded_table.h"
#include "models/text/ascii.h"
#include "models/text/english/one_of.h"
#include "models/text/english/unit_prefixes_text.h"
#include "models/text/english/unit_symbols_text.h"
#include "models/text/english/units_of_nouns_text.h"
#include "models/text/english/word_kinds.h"
#include "models/text/unicode.h"

namespace millrace::models {
namespace {

// "beat per minute" becomes "beats per minute".
Unit WithPlural(std::string singular, std::string plural) {
  if (plural.empty()) {
    plural = singular;
    plural.insert(std::min({plural.find(" per "), plural.find(" of "), plural.size()}), "s");
  }
  return {std::move(singular), std::move(plural)};
}

std::optional<Unit> FindSimple(std::string_view symbol, bool spaced) {
  static const WordTable<4> symbols(kUnitSymbolsText);
  if (const auto* const found = symbols.Find(symbol)) {
    const auto& [written, singular, plural, joined] = *found;
    if (spaced && !joined.empty()) return std::nullopt;
    return WithPlural(std::string(singular), std::string(plural));
  }
  const std::string_view prefix = symbol.substr(0, symbol.starts_with("µ") ? 2 : 1);
  static const WordTable<4> prefixed(kUnitPrefixesText);
  const auto* const unit = prefixed.Find(symbol.substr(prefix.size()));
  if (unit == nullptr) return std::nullopt;
  const auto& [written, unit_name, prefixes, plural] = *unit;
  if (prefix.empty() || prefixes.find(prefix) == prefixes.npos) return std::nullopt;
  const std::string name(FindSpoken(prefix, "unit-prefix").value_or(""));
  return WithPlural(name + std::string(unit_name),
                    plural.empty() ? "" : name + std::string(plural));
}

// Finds a unit, also with a small 2 or 3 behind it, or a negative power, which is "per" it.
std::optional<Unit> FindPower(std::string_view symbol, bool spaced) {
  constexpr std::string_view kMinus = "⁻";
  if (const size_t minus = symbol.find(kMinus); minus != std::string_view::npos) {
    const std::string_view power = symbol.substr(minus + kMinus.size());
    std::string base(symbol.substr(0, minus));
    if (power != "¹") base += power;
    const auto below = FindPower(base, false);
    if (!below) return std::nullopt;
    return Unit{"per " + below->singular, "per " + below->singular};
  }
  const bool squared = symbol.ends_with("²");
  if (!squared && !symbol.ends_with("³")) return FindSimple(symbol, spaced);
  symbol.remove_suffix(std::string_view("²").size());
  // "10 in²" is no word.
  auto unit = FindSimple(symbol, false);
  if (!unit) return std::nullopt;
  if (IsOneOf(symbol, "m", "cm", "dm", "ft", "in", "km", "mi", "mm", "nm", "yd", "µm")) {
    const std::string power = squared ? "square " : "cubic ";
    return Unit{power + unit->singular, power + unit->plural};
  }
  const std::string power = squared ? " squared" : " cubed";
  return Unit{unit->singular + power, unit->plural + power};
}

// Returns where the first unit of a product ends: at the dot, hyphen or space of "N·m", "lb-ft" and
// "m s⁻¹", or behind the power of "m²K".
size_t FactorEnd(std::string_view symbol) {
  for (size_t at = 0; at < symbol.size(); at += DecodeAt(symbol, at).bytes) {
    const char32_t c = DecodeAt(symbol, at).value;
    if (ProductSignBytes(symbol, at) > 0 || c == '-' || c == ' ') return at;
    const size_t behind = at + DecodeAt(symbol, at).bytes;
    if ((c == 0xB2 || c == 0xB3) && behind < symbol.size()) return behind;
  }
  return symbol.size();
}

// Finds a unit with its power, also those that are no units alone behind a number.
std::optional<Unit> FindFactor(std::string_view symbol) {
  if (symbol == "K") return Unit{"kelvin", "kelvin"};
  if (symbol == "N") return Unit{"newton", "newtons"};
  return FindPower(symbol, false);
}

// Finds a unit or a product of units, of which the last one has the plural: "newton meters".
std::optional<Unit> FindProduct(std::string_view symbol) {
  const size_t end = FactorEnd(symbol);
  if (end == symbol.size()) return FindFactor(symbol);
  const size_t next =
      end + (symbol[end] == '-' || symbol[end] == ' ' ? 1 : ProductSignBytes(symbol, end));
  const std::string_view rest = symbol.substr(next);
  const auto first = FindFactor(symbol.substr(0, end));
  const auto last = FindProduct(rest);
  if (!first || !last) return std::nullopt;
  const bool divides = last->singular.starts_with("per ");
  return Unit{first->singular + " " + last->singular,
              (divides ? first->plural : first->singular) + " " + last->plural};
}

void SpellAsBritish(std::string& words) {
  for (const std::string_view american : {"meter", "liter"}) {
    for (size_t at = 0; (at = words.find(american, at)) != std::string::npos; ++at)
      words.replace(at + american.size() - 2, 2, "re");
  }
}

}  // namespace

size_t ProductSignBytes(std::string_view text, size_t at) {
  const CodePoint c = DecodeAt(text, at);
  return c.value == 0xB7 || c.value == 0x22C5 ? c.bytes : 0;
}

std::optional<Unit> FindUnit(std::string_view symbol, bool spaced, EnglishDialect dialect) {
  const size_t slash = std::min(symbol.find('/'), symbol.size());
  const std::string_view above = symbol.substr(0, slash);
  const bool alone = slash == symbol.size() && FactorEnd(above) == above.size();
  auto unit = alone || (spaced && above == "in") ? FindPower(above, spaced) : FindProduct(above);
  if (!unit) return std::nullopt;
  if (slash < symbol.size()) {
    std::string_view divisor = symbol.substr(slash + 1);
    if (divisor.starts_with('(') && divisor.ends_with(')'))
      divisor = divisor.substr(1, divisor.size() - 2);
    const auto below =
        IsOfKind(divisor, "per") ? Unit{std::string(divisor), {}} : FindProduct(divisor);
    if (!below) return std::nullopt;
    unit->singular += " per " + below->singular;
    unit->plural += " per " + below->singular;
  }
  if (dialect == EnglishDialect::kGb) {
    SpellAsBritish(unit->singular);
    SpellAsBritish(unit->plural);
  }
  return unit;
}

std::optional<Unit> FindUnitOfNoun(std::string_view text, size_t at, size_t end, bool spaced) {
  constexpr size_t kLongest = 2;
  if (end == at || end - at > kLongest) return std::nullopt;
  const size_t space = end + (ByteAt(text, end) == '.' ? 1 : 0);
  if (ByteAt(text, space) != ' ') return std::nullopt;
  const std::string_view noun = LettersAt(text, space + 1);
  // "1.5T of debt", but "2 c. of flour".
  const std::string_view whole = noun == "of" ? LettersAt(text, space + 4) : noun;
  static const WordTable<5> units(kUnitsOfNounsText);
  for (const auto& [letters, joint, singular, plural, nouns] :
       units.FindAll(text.substr(at, end - at))) {
    if (joint != (spaced ? "joined" : "spaced") &&
        (IsListed(noun, nouns) || IsListed(whole, nouns)))
      return Unit{std::string(singular), std::string(plural)};
  }
  return std::nullopt;
}

}  // namespace millrace::models
