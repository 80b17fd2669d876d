#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "models/text/english/amount.h"
#include "models/text/english/dialect.h"
#include "models/text/english/number_context.h"
#include "models/text/english/number_words.h"
#include "models/text/english/reading.h"

namespace millrace::models {

// These functions are thread-safe and look a bounded number of bytes ahead.

// Reads measures of several units: "1h 30m 15s", "9st 7lb".
std::optional<Reading> ReadCompound(const NumberWords& numbers, EnglishDialect dialect,
                                    std::string_view text, size_t at);
// Reads the "30m" of "2h 30m".
std::optional<Reading> ReadMinutes(const NumberWords& numbers, std::string_view text, size_t at,
                                   std::string_view previous);
// Reads a unit without a number: "measured in km/h".
std::optional<Reading> ReadUnitAlone(std::string_view text, size_t at);
// Reads what a price is for, behind the slash: "/page", "/kg", "/mo.".
Reading ReadPer(std::string_view text, size_t word);
// Reads "5'10\"" and "9' wall".
bool TakeFeet(const NumberWords& numbers, std::string_view text, const Amount& amount,
              const NumberContext& context, Reading& reading);
// Takes "%", "°C", "km" behind a number. one: the number is one, or any number that a noun follows.
bool TakeMeasure(EnglishDialect dialect, std::string_view text, bool one, bool article,
                 Reading& reading);

}  // namespace millrace::models
