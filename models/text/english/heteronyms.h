#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "models/text/english/spoken_word.h"

namespace millrace::models {

// An American word's sound for both kinds of voices.
struct WordSound {
  std::string_view misaki;  // in misaki's symbols; empty: what the lexicon has
  std::string_view espeak;  // in espeak-ng's mnemonics; empty: what espeak-ng makes of the word
  std::string_view espeak_ending = {};  // the "s" of a plural, in mnemonics
};

// Returns the sound of words[at] if it is spelled like another word and the words around it say
// which one it is, or if both front ends are wrong about it. Thread-safe; constant time.
std::optional<WordSound> FindHeteronym(std::span<const SpokenWord> words, size_t at);

}  // namespace millrace::models
