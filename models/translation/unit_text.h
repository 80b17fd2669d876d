#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "models/translation/markup/marked_text.h"
#include "models/translation/source_shape.h"
#include "models/translation/translation_plan.h"
#include "models/translation/vocabulary.h"

namespace millrace::translation {

// The texts that the tokens of a unit's translation stand for.

// Returns what of the source the shape of the translation follows. The unit must outlive it.
SourceShape ShapeOf(const TranslationSettings& settings, const TranslationUnit& unit);
// Returns the text of tokens that follow the prescribed beginning of the translation, with that
// beginning.
std::string TextOf(const TranslationUnit& unit, std::span<const int32_t> tokens,
                   const Vocabularies& vocabularies);
// Returns the part of the translation that later tokens cannot change.
std::string StableText(const TranslationSettings& settings, const TranslationUnit& unit,
                       const Vocabularies& vocabularies);
// Returns the text of tokens with all protected text and marks restored, for a sentence that is
// done.
MarkedText Restored(const TranslationPlan& plan, const TranslationUnit& unit,
                    std::span<const int32_t> tokens, std::span<const int32_t> alignment,
                    const Vocabularies& vocabularies);

}  // namespace millrace::translation
