#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "models/core/request.h"
#include "models/translation/translation_cache.h"
#include "models/translation/translation_plan.h"
#include "models/translation/vocabulary.h"

namespace millrace::translation {

// A request of a step, and its sentences.
struct Participant {
  const models::TranslateInput& input() const {
    return std::get<models::TranslateInput>(request->input());
  }

  models::Request* request;
  TranslationPlan* plan;
};

// Begins the translation of sentences. The vocabularies must outlive it.
class UnitStarter {
 public:
  UnitStarter(size_t max_source_tokens, const Vocabularies& vocabularies,
              const TranslationCache::ForModel& cache)
      : max_source_tokens_(max_source_tokens), vocabularies_(vocabularies), cache_(cache) {}

  // Takes the next sentence of a participant, or as much of it as one pass takes, and begins it.
  // Returns the tokens that this adds to a step.
  size_t TakeNext(const Participant& participant) const;
  // Makes the job of a unit, or marks it as copied. `tokens`: those of its sentence.
  void Begin(const Participant& participant, TranslationUnit& unit,
             std::vector<int32_t> tokens) const;

 private:
  // Returns where to divide a sentence of which one pass takes the first `bytes` bytes: at a clause
  // if there is one.
  size_t PartEnd(const TranslationPlan& plan, std::string_view text, size_t bytes) const;
  // Has a sentence in capitals read in lower case if it then has fewer tokens. `tokens`: those of
  // the sentence, which are replaced.
  void ReadCapitals(TranslationUnit& unit, std::vector<int32_t>& tokens) const;
  // Takes the translation of an equal earlier part of the request, or waits for it if it is in
  // progress.
  static void ShareWork(TranslationPlan& plan, TranslationUnit& unit);
  // Makes the translation begin with the given text.
  void Force(const std::string& beginning, TranslationUnit& unit) const;

  const size_t max_source_tokens_;
  const Vocabularies& vocabularies_;
  const TranslationCache::ForModel cache_;
};

}  // namespace millrace::translation
