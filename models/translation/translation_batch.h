#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/core/model.h"
#include "models/translation/translation_cache.h"
#include "models/translation/translation_engine.h"
#include "models/translation/translation_plan.h"
#include "models/translation/vocabulary.h"

namespace millrace::translation {

// How much one step takes on.
struct StepLimits {
  // Work (EstimateWork) of requests that keep a row busy with a usual sentence each.
  static constexpr double kWorkOfRow = 125;

  size_t max_source_tokens = 256;  // of one sentence
  // Hypotheses of the sentences in work, of all requests together; each request has one sentence in
  // any case.
  size_t max_rows = 32;
  // Tokens of the sentences that a step begins. A request without a sentence in work begins one in
  // any case.
  size_t max_step_tokens = 768;
  // A step ends soon after it had so much time, so that others can join and finished sentences go
  // out.
  Duration time = std::chrono::milliseconds(8);
  // Or so much for each sentence in work, if that is more: each costs something to put back.
  Duration time_each{};
};

// One step of translation requests: some tokens more of the sentences that they have in work, and
// of the next ones as far as there is room. The engine and vocabularies must outlive it.
class TranslationBatch final : public models::Batch {
 public:
  // settings_of: asked once for each request.
  TranslationBatch(
      std::span<models::Request* const> requests, const StepLimits& limits,
      absl::FunctionRef<TranslationSettings(const models::TranslateInput&)> settings_of,
      const Vocabularies& vocabularies, const TranslationEngine& engine,
      const TranslationCache::ForModel& cache = {});
  TranslationBatch(const TranslationBatch&) = delete;
  TranslationBatch& operator=(const TranslationBatch&) = delete;
  // What was not completed goes on with the next step from what was decided before.
  ~TranslationBatch() override;

  void Forward(runtime::WorkerContext& context) override;
  void Complete() override;

 private:
  struct Participant {
    models::Request* request;
    TranslationPlan* plan;
  };
  // A sentence at work, and whose it is.
  struct Job {
    SentenceJob* job;
    const models::Request* request;
  };

  // Takes the next sentences of the participants, in turns.
  void TakeSentences();
  void TakeNext(const Participant& participant);
  // Whether its first sentence is to be translated before others begin, and is not yet.
  static bool WaitsForFirst(const Participant& participant);
  // Has a sentence in capitals read in small letters where the vocabulary knows its tokens only so.
  // `tokens`: of the sentence.
  void ReadCapitals(TranslationUnit& unit, std::vector<int32_t>& tokens) const;
  // Spares a part of a sentence its job where an equal one before it is done or at work.
  static void ShareWork(TranslationPlan& plan, TranslationUnit& unit);
  // Has the translation begin with that text.
  void Force(const std::string& beginning, TranslationUnit& unit) const;
  std::vector<Job> JobsAtWork() const;
  // Whether so many tokens are decided for somebody who has read nothing of the sentence.
  bool SomebodyWaitsForFirstToken(size_t decided) const;
  // The part of its translation that later tokens do not change.
  std::string StableText(const TranslationUnit& unit) const;
  // The text of tokens that follow what the translation begins with.
  std::string TextOf(const TranslationUnit& unit, std::span<const int32_t> tokens) const;
  // The same with everything put back that must survive; of a sentence that is done.
  MarkedText Restored(const TranslationSettings& settings, const TranslationUnit& unit,
                      std::span<const int32_t> tokens, std::span<const int32_t> alignment) const;
  // What should have come out again, as it is, in the translation of a sentence, and has not.
  std::vector<std::string> LostOf(const TranslationUnit& unit, std::string_view translation) const;
  void Emit(const Participant& participant, TranslationUnit& unit) const;
  void EmitPart(const Participant& participant, TranslationUnit& unit) const;

  const StepLimits limits_;
  const Vocabularies& vocabularies_;
  const TranslationEngine& engine_;
  const TranslationCache::ForModel cache_;
  std::vector<Participant> participants_;
  size_t rows_ = 0;    // of the sentences in work, those without a job too
  size_t tokens_ = 0;  // of those that this step begins
  bool begun_ = false;
};

}  // namespace millrace::translation
