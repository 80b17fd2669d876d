#pragma once

#include <string_view>
#include <vector>

#include "models/text/language_detector.h"

namespace millrace::models {

// Corrects the languages that a detector found for a text in Chinese characters, the first of which
// is one of zh, zh-Hant and ja, by characters and words that only some of these have. A text that
// several of them may have written, such as a name of a place, gets these, the likeliest first.
// Leaves texts with kana and languages of other scripts as they are. Linear time in the first 256
// bytes. Thread-safe.
void NameHan(std::string_view text, std::vector<DetectedLanguage>& found);

}  // namespace millrace::models
