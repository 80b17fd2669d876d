#pragma once

#include <cstdint>

#include "absl/functional/function_ref.h"

namespace millrace::translation {

// The way in which a model's vocabulary reproduces a character.
enum class CharacterFit : uint8_t {
  kKnown,      // as it is
  kRespelled,  // as other characters: … as ..., ² as 2
  kUnknown,    // not at all
};

// Returns how a model's vocabulary reproduces a character.
using Alphabet = absl::FunctionRef<CharacterFit(char32_t)>;

// An alphabet of all characters.
inline CharacterFit KnowsAll(char32_t) { return CharacterFit::kKnown; }

}  // namespace millrace::translation
