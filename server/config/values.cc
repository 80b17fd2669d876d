#include "server/config/values.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <regex>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "models/core/strings.h"

namespace millrace {
namespace {

struct Unit {
  std::string_view name;
  int64_t factor;
};

// The largest unit comes first, in milliseconds and bytes.
constexpr std::array<Unit, 4> kDurations = {
    {{"h", 3'600'000}, {"m", 60'000}, {"s", 1'000}, {"ms", 1}}};
constexpr std::array<Unit, 4> kSizes = {
    {{"GiB", int64_t{1} << 30}, {"MiB", int64_t{1} << 20}, {"KiB", int64_t{1} << 10}, {"B", 1}}};

// Bounds the work of the regular expression.
constexpr size_t kMaxOriginBytes = 300;

// Parses a whole number with one of the units; nullopt for anything else, including overflow.
template <size_t N>
std::optional<int64_t> ParseWithUnit(std::string_view text, const std::array<Unit, N>& units) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 0) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  for (const Unit& unit : units) {
    if (unit.name != text) continue;
    int64_t value = 0;
    if (__builtin_mul_overflow(number, unit.factor, &value)) return std::nullopt;
    return value;
  }
  return std::nullopt;
}

template <size_t N>
std::string FormatWithUnit(int64_t value, const std::array<Unit, N>& units) {
  for (const Unit& unit : units) {
    if (value % unit.factor == 0) return StrCat(value / unit.factor, std::string(unit.name));
  }
  return StrCat(value);
}

}  // namespace

std::optional<std::chrono::milliseconds> ParseDuration(std::string_view text) {
  if (text == "0") return std::chrono::milliseconds(0);
  const std::optional<int64_t> value = ParseWithUnit(text, kDurations);
  if (!value) return std::nullopt;
  return std::chrono::milliseconds(*value);
}

std::string FormatDuration(std::chrono::milliseconds value) {
  return value.count() == 0 ? "0s" : FormatWithUnit(value.count(), kDurations);
}

std::optional<uint64_t> ParseBytes(std::string_view text) {
  std::optional<int64_t> value = ParseInteger(text);
  if (!value) value = ParseWithUnit(text, kSizes);
  if (!value || *value < 0) return std::nullopt;
  return static_cast<uint64_t>(*value);
}

std::string FormatBytes(uint64_t value) {
  return value == 0 ? "0" : FormatWithUnit(static_cast<int64_t>(value), kSizes);
}

std::optional<int64_t> ParseInteger(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<std::map<std::string, std::string>> ParsePairs(std::string_view text) {
  std::map<std::string, std::string> pairs;
  for (const absl::string_view pair : absl::StrSplit(View(text), ',')) {
    const std::vector<std::string> sides = absl::StrSplit(pair, '=');
    const auto is_name = [](const std::string& side) {
      return !side.empty() &&
             std::ranges::all_of(side, [](unsigned char c) { return absl::ascii_isgraph(c); });
    };
    if (sides.size() != 2 || !std::ranges::all_of(sides, is_name)) return std::nullopt;
    if (!pairs.emplace(sides[0], sides[1]).second) return std::nullopt;
  }
  return pairs;
}

std::string FormatPairs(const std::map<std::string, std::string>& pairs) {
  return absl::StrJoin(pairs, ",", absl::PairFormatter("="));
}

std::optional<std::vector<std::string>> ParseOrigins(std::string_view text) {
  if (text == "*") return std::vector<std::string>{"*"};
  // Browsers write schemes and hosts in lower case, and nothing behind the port.
  static const std::regex origin(
      "[a-z][a-z0-9+.-]*://([a-z0-9._-]+|\\[[0-9a-f:.]+\\])(:[0-9]{1,5})?");
  std::vector<std::string> origins = absl::StrSplit(View(text), ',');
  for (const std::string& one : origins) {
    if (one.size() > kMaxOriginBytes || !std::regex_match(one, origin)) return std::nullopt;
  }
  return origins;
}

std::optional<bool> ParseBool(std::string_view text) {
  for (const std::string_view word : {"true", "on", "yes", "1"}) {
    if (text == word) return true;
  }
  for (const std::string_view word : {"false", "off", "no", "0"}) {
    if (text == word) return false;
  }
  return std::nullopt;
}

}  // namespace millrace
