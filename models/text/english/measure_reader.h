#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "models/text/english/dialect.h"
#include "models/text/english/reading.h"

namespace millrace::models {

// These functions are thread-safe and look a bounded number of bytes ahead.

// Reads a unit without a number: "measured in km/h".
std::optional<Reading> ReadUnitAlone(std::string_view text, size_t at);
// Reads what a price is for, behind the slash: "/page", "/kg", "/mo.".
Reading ReadPer(std::string_view text, size_t word);
// Takes "%", "°C", "km" behind a number. one: the number is one, or any number that a noun follows.
bool TakeMeasure(EnglishDialect dialect, std::string_view text, bool one, bool article,
                 Reading& reading);

}  // namespace millrace::models
