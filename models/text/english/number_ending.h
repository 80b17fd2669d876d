#pragma once

#include <string_view>

#include "models/text/english/amount.h"
#include "models/text/english/number_context.h"
#include "models/text/english/number_words.h"
#include "models/text/english/reading.h"

namespace millrace::models {

// Reads a number with the ending of an ordinal or a plural, "1st-3rd", "1990s", "747s", or of
// seconds, "15s"; returns false when it has none. Thread-safe.
bool TakeNumberEnding(const NumberWords& numbers, std::string_view text, const Amount& amount,
                      const NumberContext& context, Reading& reading);

}  // namespace millrace::models
