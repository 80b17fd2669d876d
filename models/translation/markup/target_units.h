#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "models/translation/markup/restore.h"

namespace millrace::translation {

// A stretch of a translation that no mark divides: a word, a sign, or what was put in place of one.
struct TargetUnit {
  size_t begin = 0;  // bytes of the translation, without the white space around
  size_t end = 0;
  std::vector<size_t> sources;  // the bytes of the source that its pieces come from
};

// The units of a translation, in order. Without pieces each word comes from the same proportion of
// a source of `source_bytes` bytes.
std::vector<TargetUnit> FindUnits(std::string_view target, std::span<const AlignedPiece> pieces,
                                  size_t source_bytes);

}  // namespace millrace::translation
