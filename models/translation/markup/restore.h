#pragma once

#include <span>
#include <string>
#include <string_view>

#include "models/translation/markup/aligned_piece.h"
#include "models/translation/markup/marked_text.h"
#include "models/translation/markup/number_format.h"

namespace millrace::translation {

// Returns a translation with the kept spans, numbers, spellings and marks of its source restored.
// Each kept span comes once: in place of its stand-in, else of the words that are aligned with it,
// else before the first word that is aligned with later text. Numbers are corrected as
// RepairNumbers describes. Characters that the source writes in another way, such as
// entities, are written so. Each mark comes once; a pair encloses the words that come from those it
// enclosed, as one stretch within that of the pair around it, so that valid nesting stays valid.
// Pieces must be in order; without any, they are guessed by proportion. Takes time linear in the
// translation for each mark.
MarkedText RestoreMarks(const MarkedText& source, std::string_view target,
                        std::span<const AlignedPiece> pieces, const NumberFormats& formats = {});
// Returns the restored translation in the source's format.
std::string Restore(const MarkedText& source, std::string_view target,
                    std::span<const AlignedPiece> pieces, const NumberFormats& formats = {});

}  // namespace millrace::translation
