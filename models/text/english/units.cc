#include "models/text/english/units.h"

#include <algorithm>
#include <array>

#include "models/core/embedded_table.h"
#include "models/text/english/one_of.h"
#include "models/text/english/unit_symbols_text.h"

namespace millrace::models {
namespace {

// A unit with the prefixes that it has.
struct Prefixed {
  std::string_view written;
  std::string_view name;
  std::string_view prefixes;
  std::string_view plural = {};  // empty: with an s
};

constexpr auto kPrefixed = std::to_array<Prefixed>({
    {"A", "amp", "kmnµ"},
    {"Ah", "amp hour", "km"},
    {"B", "byte", "EGKMPTk"},
    {"Bq", "becquerel", "GMTk"},
    {"F", "farad", "mnpµ"},
    {"Gy", "gray", "m"},
    {"H", "henry", "nµ"},
    {"Hz", "hertz", "GMTkm", "hertz"},
    {"J", "joule", "GMTkm"},
    {"L", "liter", "cdmµ"},
    {"N", "newton", "Mkm"},
    {"Pa", "pascal", "GMhkm"},
    {"Sv", "sievert", "mµ"},
    {"V", "volt", "Mkmµ"},
    {"VA", "volt amp", "Mk"},
    {"W", "watt", "GMTkmµ"},
    {"Wh", "watt hour", "GMTk"},
    {"b", "bit", "GMT"},
    {"bit", "bit", "GMTk"},
    {"bar", "bar", "m"},
    {"bps", "bit per second", "GKMTk"},
    {"cal", "calorie", "k"},
    {"eV", "electron volt", "GMTkm"},
    {"g", "gram", "Kkmnµ"},
    {"l", "liter", "cdmµ"},
    {"m", "meter", "cdkmn"},
    {"mol", "mole", "kmnµ"},
    {"s", "second", "mnpµ"},
    {"Ω", "ohm", "GMkm"},
});

constexpr std::string_view PrefixName(std::string_view prefix) {
  constexpr std::array<std::string_view, 13> kNames = {
      "Eexa",  "Ggiga",  "Kkilo", "Mmega",  "Ppeta", "Ttera", "ccenti",
      "ddeci", "hhecto", "kkilo", "mmilli", "nnano", "ppico"};
  if (prefix == "µ") return "micro";
  for (const std::string_view name : kNames) {
    if (name.starts_with(prefix)) return name.substr(1);
  }
  return {};
}

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
  for (const Prefixed& unit : kPrefixed) {
    if (symbol.substr(prefix.size()) != unit.written || prefix.empty() ||
        unit.prefixes.find(prefix) == std::string_view::npos)
      continue;
    const std::string name(PrefixName(prefix));
    return WithPlural(name + std::string(unit.name),
                      unit.plural.empty() ? "" : name + std::string(unit.plural));
  }
  return std::nullopt;
}

// Finds a unit, also with a small 2 or 3 behind it.
std::optional<Unit> FindPower(std::string_view symbol, bool spaced) {
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

// Returns true for what an amount may be per that is written out: "2 kWh/day".
bool IsPeriod(std::string_view word) {
  return IsOneOf(word, "capita", "day", "hour", "household", "minute", "month", "night", "person",
                 "pixel", "second", "shift", "unit", "week", "year");
}

void SpellAsBritish(std::string& words) {
  for (const std::string_view american : {"meter", "liter"}) {
    for (size_t at = 0; (at = words.find(american, at)) != std::string::npos; ++at)
      words.replace(at + american.size() - 2, 2, "re");
  }
}

}  // namespace

std::optional<Unit> FindUnit(std::string_view symbol, bool spaced, EnglishDialect dialect) {
  const size_t slash = std::min(symbol.find('/'), symbol.size());
  auto unit = FindPower(symbol.substr(0, slash), spaced);
  if (!unit) return std::nullopt;
  if (slash < symbol.size()) {
    const std::string_view divisor = symbol.substr(slash + 1);
    const auto below =
        IsPeriod(divisor) ? Unit{std::string(divisor), {}} : FindPower(divisor, false);
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

}  // namespace millrace::models
