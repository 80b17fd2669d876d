#pragma once

#include <string_view>
#include <vector>

#include "models/text/phoneme_text.h"

namespace millrace::models {

// Whether the character is a sound, or a mark of one such as that of stress; not a pause.
bool IsSound(char32_t c);

// The words of phonemes that stand for themselves: divided by spaces, without the marks around
// them. Thread-safe; linear time.
std::vector<PhonemeWord> SplitPhonemeWords(std::string_view phonemes);

}  // namespace millrace::models
