#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace millrace {

// These functions parse and format values, the same in flags, variables and the file. Each pair is
// inverse: Parse(Format(v)) == v.

// Durations: "250ms", "5s", "2m", "1h" or "0"; a number without a unit is rejected.
std::optional<std::chrono::milliseconds> ParseDuration(std::string_view text);
std::string FormatDuration(std::chrono::milliseconds value);

// Sizes: "64KiB", "16MiB", "1GiB" or plain bytes.
std::optional<uint64_t> ParseBytes(std::string_view text);
std::string FormatBytes(uint64_t value);

std::optional<int64_t> ParseInteger(std::string_view text);

// "alloy=joe,nova=jane": at least one pair, no name twice, of printable characters without blanks.
std::optional<std::map<std::string, std::string>> ParsePairs(std::string_view text);
std::string FormatPairs(const std::map<std::string, std::string>& pairs);

// "*", or origins as browsers write them, such as "https://a.example,http://localhost:3000"; at
// least one.
std::optional<std::vector<std::string>> ParseOrigins(std::string_view text);

// Accepts "true", "on", "yes", "1" and their opposites.
std::optional<bool> ParseBool(std::string_view text);

}  // namespace millrace
