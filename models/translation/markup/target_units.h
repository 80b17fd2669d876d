#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "models/translation/markup/aligned_piece.h"

namespace millrace::translation {

// A part of a translation that no mark may divide: a word, punctuation, or a replacement of either.
struct TargetUnit {
  size_t begin = 0;  // bytes of the translation, without white space around it
  size_t end = 0;
  std::vector<size_t> sources;  // the bytes of the source with which its pieces are aligned
};

// Returns the units of a translation in order. Without pieces each word is aligned with the
// proportional position in a source of `source_bytes` bytes.
std::vector<TargetUnit> FindUnits(std::string_view target, std::span<const AlignedPiece> pieces,
                                  size_t source_bytes);

}  // namespace millrace::translation
