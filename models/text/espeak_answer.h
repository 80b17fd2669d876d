#pragma once

#include <string>
#include <string_view>

namespace millrace::models {

// Returns the phonemes of espeak-ng's output on one line, without marks such as "(fr)", by which it
// says that it spoke a word in another language.
std::string CleanEspeakAnswer(std::string_view answer);

}  // namespace millrace::models
