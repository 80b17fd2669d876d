#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace millrace::models {

// The words of an abbreviation.
struct SpokenAbbreviation {
  // The context in which the written word is the abbreviation.
  enum class When {
    kAlways,            // "Mr", with a stop or without
    kStop,              // only with a stop: "Prof."
    kStopAndCapital,    // with a stop, where it begins with a capital: "Mar."
    kStopAndDigit,      // with a stop, before a number: "No. 5", "p. 42"
    kStopAndMore,       // with a stop, where the sentence goes on: "max. 5", "the min. is"
    kStopAndName,       // with a stop, before a capital: "St. Paul", "Mt. Everest"
    kStopAfterOrdinal,  // with a stop, after an ordinal: "3rd ed."
    kStopAfterName,     // with a stop, after a capitalised word and not before one: "Main St."
    kStopWithoutName    // with a stop, at the beginning or behind an article: "the ave. score"
  };
  std::string_view words;  // separated by spaces
  When when = When::kAlways;
};

// Looks up a written abbreviation without its last stop, in lower case. meaning: which of its
// meanings, from 0 on ("st" is a saint, then a street). Thread-safe.
std::optional<SpokenAbbreviation> FindSpokenAbbreviation(std::string_view word, size_t meaning = 0);

}  // namespace millrace::models
