#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/algorithm/container.h"
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

// Allows some words. The check's name lists them for WordsOf. These checks have no description,
// because the option's text says what is allowed.
inline CLI::Validator OneOf(const std::vector<std::string>& words) {
  return CLI::Validator(
      [words](std::string& text) {
        if (absl::c_linear_search(words, text)) return std::string();
        return StrCat("'", text, "' is not allowed, allowed: ", absl::StrJoin(words, ", "));
      },
      "", absl::StrJoin(words, "|"));
}

inline bool Parse(const std::string& text, int& value) { return absl::SimpleAtoi(text, &value); }
inline bool Parse(const std::string& text, double& value) { return absl::SimpleAtod(text, &value); }

template <typename Number>
CLI::Validator Between(Number low, Number high) {
  return CLI::Validator(
      [low, high](std::string& text) {
        Number value = 0;
        if (Parse(text, value) && value >= low && value <= high) return std::string();
        return StrCat("'", text, "' is not allowed, allowed: ", low, "..", high);
      },
      "");
}

// Refuses an empty name of a file or folder, as a script makes it of a variable that is not set.
inline CLI::Validator NotEmpty() {
  return CLI::Validator(
      [](std::string& text) {
        return text.empty() ? std::string("'' is not allowed, allowed: a name") : std::string();
      },
      "");
}

// Sets the placeholder that the help shows where CLI11 would print the type.
inline CLI::Option* Named(CLI::Option* option, const char* placeholder) {
  const std::string_view kind = placeholder;
  if (kind == "FILE" || kind == "DIR") option->check(NotEmpty());
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
