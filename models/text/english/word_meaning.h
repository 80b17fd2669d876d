#pragma once

#include <optional>
#include <string_view>

#include "models/text/english/heteronyms.h"
#include "models/text/english/spoken_word.h"
#include "models/text/english/words_around.h"

namespace millrace::models {

// Finds the sound of a word, given in lower case, too, whose meanings differ in their company.
// Thread-safe.
std::optional<WordSound> FindMeaning(const SpokenWord& written, std::string_view word,
                                     const WordsAround& near);

}  // namespace millrace::models
