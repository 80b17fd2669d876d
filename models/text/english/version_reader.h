#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "models/text/english/number_context.h"
#include "models/text/english/number_words.h"
#include "models/text/english/reading.h"

namespace millrace::models {

// Reads numbers with two points or more, "2.0.1", "192.168.0.1", and "Python 3.10" as "three point
// ten". Thread-safe; time linear in what is read.
std::optional<Reading> ReadVersion(const NumberWords& numbers, std::string_view text, size_t at,
                                   const NumberContext& context);

// Returns true if the "v" of "v2" is at `at`. Thread-safe.
bool BeginsVersion(std::string_view text, size_t at);

// Returns true for "version" and the names of programs, in lower case, that are numbered by
// versions.
bool IsVersioned(std::string_view word);

}  // namespace millrace::models
