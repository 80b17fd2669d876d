#pragma once

#include <string_view>
#include <vector>

#include "models/text/chinese/chinese_lexicon.h"

namespace millrace::models {

// Divides Chinese characters into words: the most probable ones of the lexicon, and between them
// those that a hidden Markov model finds in characters that form no word of it. The views are into
// the text. Thread-safe; linear time.
std::vector<std::string_view> DivideChinese(std::string_view characters,
                                            const ChineseLexicon& lexicon);

}  // namespace millrace::models
