#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "models/text/english/number_words.h"
#include "models/text/english/reading.h"

namespace millrace::models {

// Reads a place in the Bible or the Quran: "John 3:16", "Gen. 1:1", "1 Cor. 13:4-7" as "First
// Corinthians thirteen verses four to seven". Thread-safe; looks a bounded number of bytes ahead.
std::optional<Reading> ReadBibleReference(const NumberWords& numbers, std::string_view text,
                                          size_t at);

}  // namespace millrace::models
