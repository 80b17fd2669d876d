#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "models/text/english/reading.h"
#include "models/text/english/spoken_word.h"

namespace millrace::models {

// A sign that is no part of a word or a number.
struct Sign {
  char32_t value = 0;
  size_t begin = 0;
  size_t end = 0;    // the end of the run of equal signs
  size_t count = 0;  // the number of equal signs
};

// Where a sign stands.
struct SignContext {
  std::span<const SpokenWord> words;  // the words that were read before
  size_t number_end = 0;              // the end of the last number
  size_t last = 0;                    // one past the last byte that is spoken
  bool quoting = false;               // within straight quotation marks
  bool article = false;               // a noun is to come
};

// Reads a sign by what stands around it: keys of music, inches, time zones, factorials, eras,
// ratios, prices by the piece and names that begin with a dot. nullopt if it has its usual meaning.
// Thread-safe; constant time.
std::optional<Reading> ReadSign(std::string_view text, const Sign& sign,
                                const SignContext& context);

// Reads a sign by its name, "plus"; nullopt if nothing is said for it. Thread-safe.
std::optional<Reading> ReadSignName(std::string_view text, const Sign& sign,
                                    const SignContext& context);

}  // namespace millrace::models
