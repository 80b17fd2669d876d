#pragma once

#include <string_view>
#include <vector>

#include "models/text/english/spoken_word.h"

namespace millrace::models {

// Marks each "A" that is the letter and not the article as "A.", which every voice spells: "A or
// B", "A is for apple", "a + b". text: what the words were read from. Thread-safe.
void MarkLetterA(std::string_view text, std::vector<SpokenWord>& words);

}  // namespace millrace::models
