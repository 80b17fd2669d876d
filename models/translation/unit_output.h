#pragma once

#include "models/translation/unit_start.h"
#include "models/translation/vocabulary.h"

namespace millrace::translation {

// Sends the translation of a unit that is reviewed, or the unit itself if it is copied.
void Emit(const Participant& participant, TranslationUnit& unit, const Vocabularies& vocabularies);
// Sends what is new of the part of a translation in progress that later tokens cannot change.
void EmitPart(const Participant& participant, TranslationUnit& unit,
              const Vocabularies& vocabularies);

}  // namespace millrace::translation
