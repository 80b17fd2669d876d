#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/text/english/number_words.h"
#include "models/text/english/reading.h"

namespace millrace::models {

// Returns the words of an exponent: "squared", "to the sixth", "to the minus three". Thread-safe.
std::vector<std::string> PowerWords(const NumberWords& numbers, bool negative,
                                    std::string_view digits);

// Reads the superscript digits at `at`, such as ⁻³, as an exponent, and superscript signs alone or
// behind digits, as in Ca²⁺, as a charge; nullopt if there is none. Thread-safe.
std::optional<Reading> ReadSuperscript(const NumberWords& numbers, std::string_view text,
                                       size_t at);

// Reads "^2" or "^-3" at `at` as an exponent; nullopt if there is none. Thread-safe.
std::optional<Reading> ReadCaret(const NumberWords& numbers, std::string_view text, size_t at);

}  // namespace millrace::models
