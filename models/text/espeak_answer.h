#pragma once

#include <string>
#include <string_view>

namespace millrace::models {

// The sounds of an answer of espeak-ng on one line: without "(fr)" and its like, by which it says
// that it spoke a word in another language.
std::string CleanEspeakAnswer(std::string_view answer);

}  // namespace millrace::models
