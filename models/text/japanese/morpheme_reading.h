#pragma once

#include <span>
#include <string>
#include <string_view>

#include "models/text/japanese/morphological_analyzer.h"
#include "models/text/japanese/spoken_unit.h"

namespace millrace::models {

// Returns the pronunciation of a morpheme as people say it where the dictionary has another one.
// The places of morphemes are characters of the text here. Thread-safe.
std::string Pronunciation(std::u32string_view text, const Morpheme& morpheme);

// Returns what a vowel adds to the last unit, which is not a word of its own: the ending う only
// makes the vowel before it long, でしょ う, as a cry does, わあ あ, and い ends what is drawn out:
// すごー い. Empty if there is none. Thread-safe.
std::string EndingOfLast(std::u32string_view text, std::span<const SpokenUnit> units,
                         const Morpheme& morpheme);

}  // namespace millrace::models
