#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "models/translation/translation_cache.h"
#include "models/translation/translation_guard.h"
#include "models/translation/translation_plan.h"
#include "models/translation/unit_start.h"
#include "models/translation/vocabulary.h"

namespace millrace::translation {

// Looks at translations that are done and repairs what the model lost, by translating in another
// way what has to be. The vocabularies and the starter must outlive it.
class UnitReview {
 public:
  UnitReview(size_t max_source_tokens, const Vocabularies& vocabularies,
             const TranslationCache::ForModel& cache, const UnitStarter& starter)
      : max_source_tokens_(max_source_tokens),
        vocabularies_(vocabularies),
        cache_(cache),
        starter_(starter) {}

  // Restores the translation of the unit at `index`, which is done, and looks for lost content. If
  // there is any, divides the unit into two that are translated again, and returns true; where that
  // is not possible, notes what is missing.
  bool Review(const Participant& participant, size_t index) const;

 private:
  // Takes the translation of a short text that interfaces write in one way. Returns false if none
  // is known.
  bool TakeKnown(const TranslationSettings& settings, TranslationUnit& unit) const;
  // Takes the translation of a short text out of that of another reading of it, which is done.
  // Returns true if the text is translated in yet another one.
  bool TakeCarried(const Participant& participant, TranslationUnit& unit) const;
  // Has a sentence translated again with stand-ins for names that its translation lacks. Returns
  // false if it lacks none.
  bool KeepNames(const Participant& participant, std::string_view source, std::string_view target,
                 TranslationUnit& unit) const;
  // Returns true if the translation of a word is one word of many pieces of another root, which may
  // be what the model made of a name: "Psow" for "Salvo".
  bool IsTakenForName(std::string_view source, std::string_view target) const;
  // Has a short text translated again as `read`. lost_content: its translation cannot be right.
  // Returns false if there is nothing to read.
  bool Carry(const Participant& participant, Reading reading,
             const std::optional<std::string>& read, bool lost_content,
             TranslationUnit& unit) const;
  // Has the subject of a unit translated alone if the translation, of which `source` and `target`
  // are the texts without kept spans, lacks a word of it. Returns false if it does not.
  bool TranslateSubject(const Participant& participant, std::string_view source,
                        std::string_view target, TranslationUnit& unit) const;
  // Completes the translation of a unit from that of its subject, which is done.
  void TakeSubject(std::string_view target_language, TranslationUnit& unit) const;
  // Returns whether the unit at `index`, of which the guard found something lost, could be divided.
  bool Divide(const Participant& participant, size_t index, const GuardVerdict& verdict) const;

  const size_t max_source_tokens_;
  const Vocabularies& vocabularies_;
  const TranslationCache::ForModel cache_;
  const UnitStarter& starter_;
};

}  // namespace millrace::translation
