#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "models/core/model.h"
#include "models/translation/translation_cache.h"
#include "models/translation/translation_engine.h"
#include "models/translation/translation_plan.h"
#include "models/translation/unit_review.h"
#include "models/translation/unit_start.h"
#include "models/translation/vocabulary.h"

namespace millrace::translation {

// The limits of one step.
struct StepLimits {
  // The work (EstimateWork) of a usual sentence, which keeps one row busy.
  static constexpr double kWorkOfRow = 125;

  size_t max_source_tokens = 256;  // the tokens of one sentence
  // The most hypotheses of all sentences in progress. Each request has one sentence regardless.
  size_t max_rows = 32;
  // The most tokens of the sentences that a step begins. A request without a sentence in progress
  // begins one regardless.
  size_t max_step_tokens = 768;
  // A step ends soon after this time, so that others can join and finished sentences are sent.
  Duration time = std::chrono::milliseconds(8);
  // The time for each sentence in progress, where their sum is longer: storing each takes time.
  Duration time_each{};
};

// One step of translation requests: decodes some more tokens of their sentences in progress, and
// begins the next sentences as far as there is room. The engine and vocabularies must outlive it.
class TranslationBatch final : public models::Batch {
 public:
  // Prepares the first sentence of a request that no step has seen yet.
  static void PrepareAhead(models::Request& request, TranslationSettings settings,
                           size_t max_source_tokens, const Vocabularies& vocabularies,
                           const TranslationCache::ForModel& cache);
  // settings_of: called once for each new request.
  TranslationBatch(
      std::span<models::Request* const> requests, const StepLimits& limits,
      absl::FunctionRef<TranslationSettings(const models::TranslateInput&)> settings_of,
      const Vocabularies& vocabularies, const TranslationEngine& engine,
      const TranslationCache::ForModel& cache = {});
  TranslationBatch(const TranslationBatch&) = delete;
  TranslationBatch& operator=(const TranslationBatch&) = delete;
  // Suspends the sentences of a step that failed: the next step continues from the tokens decided
  // so far.
  ~TranslationBatch() override;

  void Forward(runtime::WorkerContext& context) override;
  void Complete() override;

 private:
  // A sentence in progress and the request that it belongs to.
  struct Job {
    SentenceJob* job;
    const models::Request* request;
  };

  // Begins the next sentences of the participants, in turns.
  void TakeSentences();
  void TakeNext(const Participant& participant);
  // Returns true if the first sentence must be translated before others begin, and is not yet.
  static bool WaitsForFirst(const Participant& participant);
  std::vector<Job> JobsAtWork() const;
  // Returns true if a streaming client has received nothing of its first sentence.
  bool SomebodyExpectsFirstToken() const;
  // The same, where the sentence is being decoded and at least
  // `decided` tokens of it are final.
  bool SomebodyWaitsForFirstToken(size_t decided) const;

  const StepLimits limits_;
  const Vocabularies& vocabularies_;
  const TranslationEngine& engine_;
  const TranslationCache::ForModel cache_;
  const UnitStarter starter_;
  const UnitReview review_;
  std::vector<Participant> participants_;
  size_t rows_ = 0;    // the rows of all sentences in progress, with or without a job
  size_t tokens_ = 0;  // the tokens of the sentences that this step begins
  bool begun_ = false;
};

}  // namespace millrace::translation
