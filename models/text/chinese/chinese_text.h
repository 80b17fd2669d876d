#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace millrace::models {

// A Chinese text in which numbers are written as they are spoken, in characters.
struct ChineseText {
  std::u32string text;
  std::vector<size_t> begins;  // the bytes of the source that each character stands for
  std::vector<size_t> ends;
};

// Returns true for the characters that Chinese words have.
inline bool IsChineseCharacter(char32_t c) { return c >= 0x4E00 && c <= 0x9FFF; }

// Writes numbers, dates, times, sums of money, percentages and measures out, and full-width forms
// as plain ones. Returns InvalidArgument, naming the character and its byte, for letters of other
// scripts than Chinese and Latin. Thread-safe; linear time.
absl::StatusOr<ChineseText> WriteChineseOut(std::string_view source);

// Returns the error that WriteChineseOut has for the text, at a fraction of its cost.
absl::Status CheckChinese(std::string_view source);

}  // namespace millrace::models
