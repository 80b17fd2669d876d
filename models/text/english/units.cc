#include "models/text/english/units.h"

#include <algorithm>
#include <array>

namespace millrace::models {
namespace {

struct UnitEntry {
  std::string_view symbol;
  Unit us;
  Unit gb;
  bool after_space = true;
};

constexpr UnitEntry Both(std::string_view symbol, std::string_view singular,
                         std::string_view plural, bool after_space = true) {
  return {symbol, {singular, plural}, {singular, plural}, after_space};
}

// Sorted by bytes.
constexpr std::array kUnits = {
    Both("A", "amp", "amps", false),
    Both("EUR", "euro", "euros"),
    Both("GB", "gigabyte", "gigabytes"),
    Both("GBP", "pound", "pounds"),
    Both("GHz", "gigahertz", "gigahertz"),
    Both("GW", "gigawatt", "gigawatts"),
    Both("Gbps", "gigabit per second", "gigabits per second"),
    Both("Hz", "hertz", "hertz"),
    Both("KB", "kilobyte", "kilobytes"),
    Both("M", "million", "million", false),
    Both("MB", "megabyte", "megabytes"),
    Both("MHz", "megahertz", "megahertz"),
    Both("MW", "megawatt", "megawatts"),
    Both("Mbps", "megabit per second", "megabits per second"),
    Both("Pa", "pascal", "pascals"),
    Both("TB", "terabyte", "terabytes"),
    Both("USD", "dollar", "dollars"),
    Both("V", "volt", "volts"),
    Both("W", "watt", "watts"),
    Both("bn", "billion", "billion"),
    UnitEntry{"cm", {"centimeter", "centimeters"}, {"centimetre", "centimetres"}},
    Both("dB", "decibel", "decibels"),
    Both("ft", "foot", "feet"),
    Both("g", "gram", "grams"),
    Both("h", "hour", "hours"),
    Both("ha", "hectare", "hectares", false),
    Both("hrs", "hour", "hours"),
    Both("in", "inch", "inches", false),
    Both("kB", "kilobyte", "kilobytes"),
    Both("kHz", "kilohertz", "kilohertz"),
    Both("kPa", "kilopascal", "kilopascals"),
    Both("kW", "kilowatt", "kilowatts"),
    Both("kWh", "kilowatt hour", "kilowatt hours"),
    Both("kg", "kilogram", "kilograms"),
    UnitEntry{"km", {"kilometer", "kilometers"}, {"kilometre", "kilometres"}},
    UnitEntry{"km/h",
              {"kilometer per hour", "kilometers per hour"},
              {"kilometre per hour", "kilometres per hour"}},
    UnitEntry{"kmh",
              {"kilometer per hour", "kilometers per hour"},
              {"kilometre per hour", "kilometres per hour"}},
    UnitEntry{"km²",
              {"square kilometer", "square kilometers"},
              {"square kilometre", "square kilometres"}},
    UnitEntry{"l", {"liter", "liters"}, {"litre", "litres"}, false},
    Both("lb", "pound", "pounds"),
    Both("lbs", "pound", "pounds"),
    UnitEntry{"m", {"meter", "meters"}, {"metre", "metres"}},
    UnitEntry{"m/s",
              {"meter per second", "meters per second"},
              {"metre per second", "metres per second"}},
    Both("mA", "milliamp", "milliamps"),
    Both("mg", "milligram", "milligrams"),
    Both("mi", "mile", "miles"),
    Both("min", "minute", "minutes"),
    UnitEntry{"ml", {"milliliter", "milliliters"}, {"millilitre", "millilitres"}},
    UnitEntry{"mm", {"millimeter", "millimeters"}, {"millimetre", "millimetres"}},
    Both("mph", "mile per hour", "miles per hour"),
    Both("ms", "millisecond", "milliseconds"),
    UnitEntry{"m²", {"square meter", "square meters"}, {"square metre", "square metres"}},
    UnitEntry{"m³", {"cubic meter", "cubic meters"}, {"cubic metre", "cubic metres"}},
    Both("ns", "nanosecond", "nanoseconds"),
    Both("oz", "ounce", "ounces"),
    Both("rpm", "revolution per minute", "revolutions per minute"),
    Both("s", "second", "seconds", false),
    Both("secs", "second", "seconds"),
    Both("tbsp", "tablespoon", "tablespoons"),
    Both("tn", "trillion", "trillion"),
    Both("tsp", "teaspoon", "teaspoons"),
    Both("yd", "yard", "yards"),
    Both("µm", "micron", "microns"),
    Both("µs", "microsecond", "microseconds"),
};
static_assert(std::ranges::is_sorted(kUnits, {}, &UnitEntry::symbol));
static_assert(std::ranges::all_of(kUnits, [](const UnitEntry& e) {
  return e.symbol.size() <= kMaxUnitBytes;
}));

}  // namespace

std::optional<Unit> FindUnit(std::string_view symbol, bool spaced, EnglishDialect dialect) {
  const auto found = std::ranges::lower_bound(kUnits, symbol, {}, &UnitEntry::symbol);
  if (found == kUnits.end() || found->symbol != symbol) return std::nullopt;
  if (spaced && !found->after_space) return std::nullopt;
  return dialect == EnglishDialect::kUs ? found->us : found->gb;
}

}  // namespace millrace::models
