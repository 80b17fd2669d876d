#pragma once

#include <cstddef>

namespace millrace::translation {

// A piece of a translation and the position in the source that it comes from.
struct AlignedPiece {
  size_t begin = 0;  // bytes of the translation
  size_t end = 0;
  size_t source = 0;  // byte of the source text
};

}  // namespace millrace::translation
