#include "models/text/english/units.h"

#include <algorithm>
#include <array>

#include "models/text/english/one_of.h"

namespace millrace::models {
namespace {

// The meaning of a symbol. "meter" and "liter" are spelled otherwise in British English.
struct Symbol {
  std::string_view written;
  std::string_view singular;
  std::string_view plural = {};  // empty: with an s
  bool after_space = true;
};

// Sorted by bytes.
constexpr std::array kSymbols =
    std::to_array<Symbol>({{"A", "amp", "", false},
                           {"Ah", "amp hour"},
                           {"C", "degree celsius", "degrees celsius", false},
                           {"F", "degree fahrenheit", "degrees fahrenheit", false},
                           {"GiB", "gibibyte"},
                           {"Hz", "hertz", "hertz"},
                           {"IU", "international unit"},
                           {"J", "joule"},
                           {"KiB", "kibibyte"},
                           {"L", "liter"},
                           {"M", "million", "million", false},
                           {"MiB", "mebibyte"},
                           {"Nm", "newton meter"},
                           {"Pa", "pascal"},
                           {"Sv", "sievert"},
                           {"TiB", "tebibyte"},
                           {"V", "volt"},
                           {"VA", "volt amp"},
                           {"W", "watt"},
                           {"Wh", "watt hour"},
                           {"bar", "bar", "bar"},
                           {"bn", "billion", "billion"},
                           {"bp", "basis point"},
                           {"bpm", "beat per minute"},
                           {"bps", "basis point"},
                           {"cal", "calorie"},
                           {"dB", "decibel"},
                           {"dpi", "dot per inch"},
                           {"eV", "electron volt"},
                           {"fps", "frame per second"},
                           {"ft", "foot", "feet"},
                           {"g", "gram"},
                           {"gal", "gallon"},
                           {"h", "hour"},
                           {"ha", "hectare", "", false},
                           {"hp", "horsepower", "horsepower"},
                           {"hr", "hour"},
                           {"hrs", "hour"},
                           {"in", "inch", "inches", false},
                           {"kmh", "kilometer per hour"},
                           {"kn", "knot"},
                           {"kph", "kilometer per hour"},
                           {"kr", "krone", "kroner"},
                           {"l", "liter"},
                           {"lb", "pound"},
                           {"lbs", "pound"},
                           {"lm", "lumen"},
                           {"lx", "lux", "lux"},
                           {"m", "meter"},
                           {"mH", "millihenry", "millihenries"},
                           {"mcg", "microgram"},
                           {"mi", "mile"},
                           {"min", "minute"},
                           {"mins", "minute"},
                           {"mmHg", "millimeter of mercury"},
                           {"mo", "month", "", false},
                           {"mol", "mole"},
                           {"mos", "month"},
                           {"mpg", "mile per gallon"},
                           {"mph", "mile per hour"},
                           {"oz", "ounce"},
                           {"pcs", "piece"},
                           {"ppb", "part per billion"},
                           {"ppm", "part per million"},
                           {"psi", "pound per square inch"},
                           {"pt", "point"},
                           {"pts", "point"},
                           {"px", "pixel"},
                           {"qt", "quart"},
                           {"qts", "quart"},
                           {"rad", "radian"},
                           {"rpm", "revolution per minute"},
                           {"s", "second"},
                           {"sec", "second"},
                           {"secs", "second"},
                           {"sqft", "square foot", "square feet"},
                           {"st", "stone", "stone", false},
                           {"tbsp", "tablespoon"},
                           {"tn", "trillion", "trillion"},
                           {"tsp", "teaspoon"},
                           {"wk", "week"},
                           {"wks", "week"},
                           {"wpm", "word per minute"},
                           {"yd", "yard"},
                           {"yds", "yard"},
                           {"yr", "year"},
                           {"yrs", "year"},
                           {"µm", "micron"},
                           {"Å", "angstrom"},
                           {"Ω", "ohm"}});
static_assert(std::ranges::is_sorted(kSymbols, {}, &Symbol::written));
static_assert(std::ranges::all_of(kSymbols, [](const Symbol& symbol) {
  return symbol.written.size() <= kMaxUnitBytes;
}));

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
  const auto found = std::ranges::lower_bound(kSymbols, symbol, {}, &Symbol::written);
  if (found != kSymbols.end() && found->written == symbol) {
    if (spaced && !found->after_space) return std::nullopt;
    return WithPlural(std::string(found->singular), std::string(found->plural));
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
