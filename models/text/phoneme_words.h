#pragma once

#include <string_view>
#include <vector>

#include "models/text/phoneme_text.h"

namespace millrace::models {

// Returns true if the character is a sound or a mark of one, such as a stress mark; false for
// pauses.
bool IsSound(char32_t c);

// Splits phonemes at spaces into words without the marks around them. Thread-safe; linear time.
std::vector<PhonemeWord> SplitPhonemeWords(std::string_view phonemes);

}  // namespace millrace::models
