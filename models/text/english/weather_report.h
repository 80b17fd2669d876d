#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "models/text/english/number_words.h"
#include "models/text/english/reading.h"

namespace millrace::models {

// Reads a group with digits of a weather report for pilots, digit by digit: "18015G25KT" is one
// eight zero one five gusts two five knots. Thread-safe.
std::optional<Reading> ReadReportGroup(const NumberWords& numbers, std::string_view text,
                                       size_t at);

}  // namespace millrace::models
