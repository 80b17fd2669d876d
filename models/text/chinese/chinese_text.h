#pragma once

#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "models/text/placed_text.h"

namespace millrace::models {

// Returns true for the characters that Chinese words have.
inline bool IsChineseCharacter(char32_t c) { return c >= 0x4E00 && c <= 0x9FFF; }

// Writes numbers, dates, times, sums of money, percentages and measures out, and full-width forms
// as plain ones. Returns InvalidArgument, naming the character and its byte, for letters of other
// scripts than Chinese and Latin. Thread-safe; linear time.
absl::StatusOr<PlacedText> WriteChineseOut(std::string_view source);

// Returns the error that WriteChineseOut has for the text, at a fraction of its cost.
absl::Status CheckChinese(std::string_view source);

}  // namespace millrace::models
