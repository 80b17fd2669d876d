#pragma once

#include <string_view>

#include "models/text/chinese/chinese_text.h"

namespace millrace::models {

// Returns the characters of a text in UTF-8 with full-width forms as plain ones, labels as ① and
// Roman numerals in words, and the point of 1·5倍 as that of a decimal. Thread-safe; linear time.
PlacedText PlaceChinese(std::string_view source);

}  // namespace millrace::models
