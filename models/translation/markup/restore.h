#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "models/translation/markup/marked_text.h"

namespace millrace::translation {

// A piece of a translation and what of the source it comes from.
struct AlignedPiece {
  size_t begin = 0;  // bytes of the translation
  size_t end = 0;
  size_t source = 0;  // byte of the source text
};

// A translation with everything put back that the source had. What was kept comes as often as it
// did: in place of its stand-in, else of the words that come from there, else where it stood by
// proportion. A number of three digits or more that the model changed is corrected. Characters that
// the source writes in another way, such as entities, are written so. Each mark comes once: a pair
// around the words that come from what it stood around, as one stretch within that of the pair
// around it, so that what was well nested stays so. Pieces are in order; without any they are
// guessed by proportion. Time linear in the translation for each mark.
MarkedText RestoreMarks(const MarkedText& source, std::string_view target,
                        std::span<const AlignedPiece> pieces);
// The same put out by the source's format.
std::string Restore(const MarkedText& source, std::string_view target,
                    std::span<const AlignedPiece> pieces);

}  // namespace millrace::translation
