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

// Reads measures of several units: "1h 30m 15s", "9st 7lb". article: an article is before them.
std::optional<Reading> ReadCompound(const NumberWords& numbers, EnglishDialect dialect,
                                    std::string_view text, size_t at, bool article);
// Reads the "30m" of "2h 30m".
std::optional<Reading> ReadMinutes(const NumberWords& numbers, std::string_view text, size_t at,
                                   std::string_view previous);
// Reads "5'10\"" and "9' wall".
bool TakeFeet(const NumberWords& numbers, std::string_view text, const Amount& amount,
              const NumberContext& context, Reading& reading);

}  // namespace millrace::models
