#pragma once

#include <cstdint>

#include "absl/functional/function_ref.h"

namespace millrace::translation {

// How a character comes through a model's vocabulary.
enum class CharacterFit : uint8_t {
  kKnown,      // as it is
  kRespelled,  // as other characters: … as ..., ² as 2
  kUnknown,    // not at all
};

// Tells the fit of each character of a model's vocabulary.
using Alphabet = absl::FunctionRef<CharacterFit(char32_t)>;

// An alphabet that lacks nothing.
inline CharacterFit KnowsAll(char32_t) { return CharacterFit::kKnown; }

}  // namespace millrace::translation
