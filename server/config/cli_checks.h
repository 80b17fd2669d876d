#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/numbers.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "models/core/strings.h"
#include "server/config/values.h"

// The commands of the clients share these checks, whose errors say what is allowed.
namespace millrace {

inline CLI::Validator DurationFrom(std::chrono::milliseconds low) {
  return CLI::Validator(
      [low](std::string& text) {
        const auto value = ParseDuration(text);
        if (value && *value >= low) return std::string();
        return StrCat("'", text, "' is not allowed, allowed: ", FormatDuration(low),
                      " or more, such as 250ms, 5s or 2m");
      },
      "");
}

inline CLI::Validator DurationUpTo(std::chrono::milliseconds high) {
  return CLI::Validator(
      [high](std::string& text) {
        const auto value = ParseDuration(text);
        if (!value || *value <= high) return std::string();
        return StrCat("'", text, "' is not allowed, allowed: up to ", FormatDuration(high));
      },
      "");
}

// Removes CLI11's own words from a check's help, because the option's text says what is allowed.
inline CLI::Validator Quiet(CLI::Validator check) { return check.description(""); }

// Allows some words. The check's name lists them for WordsOf.
inline CLI::Validator OneOf(const std::vector<std::string>& words) {
  return Quiet(CLI::IsMember(words)).name(absl::StrJoin(words, "|"));
}

// CLI::Range writes six decimals.
inline CLI::Validator Between(double low, double high) {
  return CLI::Validator(
      [low, high](std::string& text) {
        double value = 0;
        if (absl::SimpleAtod(text, &value) && value >= low && value <= high) return std::string();
        return StrCat("Value ", text, " not in range ", low, " to ", high);
      },
      "");
}

// Sets the placeholder that the help shows where CLI11 would print the type.
inline CLI::Option* Named(CLI::Option* option, const char* placeholder) {
  return option->type_name(placeholder);
}

// Returns the words that OneOf allows an option; none where it has no such check.
inline std::vector<std::string> WordsOf(CLI::Option& option) {
  try {
    const std::string& words = option.get_validator(0)->get_name();
    if (!words.empty()) return absl::StrSplit(words, '|');
  } catch (const CLI::OptionNotFound&) {
    // It has no check.
  }
  return {};
}

// Adds an option for which the help shows the placeholder.
template <typename Value>
CLI::Option* AddOption(CLI::App& command, const std::string& name, Value& value,
                       const char* placeholder, const std::string& help) {
  return Named(command.add_option(name, value, help), placeholder);
}

}  // namespace millrace
