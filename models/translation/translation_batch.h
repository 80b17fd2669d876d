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
  struct Participant {
    models::Request* request;
    TranslationPlan* plan;
  };
  // A sentence in progress and the request that it belongs to.
  struct Job {
    SentenceJob* job;
    const models::Request* request;
  };

  // Begins the next sentences of the participants, in turns.
  void TakeSentences();
  void TakeNext(const Participant& participant);
  // Returns where to divide a sentence of which one pass takes the first `bytes` bytes: at a clause
  // if there is one.
  size_t PartEnd(const TranslationPlan& plan, std::string_view text, size_t bytes) const;
  // Makes the job of a unit, or marks it as copied. `tokens`: those of its sentence.
  void BeginUnit(const Participant& participant, TranslationUnit& unit,
                 std::vector<int32_t> tokens) const;
  // Returns true if the first sentence must be translated before others begin, and is not yet.
  static bool WaitsForFirst(const Participant& participant);
  // Has a sentence in capitals read in lower case if it then has fewer tokens. `tokens`: those of
  // the sentence, which are replaced.
  void ReadCapitals(TranslationUnit& unit, std::vector<int32_t>& tokens) const;
  // Takes the translation of an equal earlier part of the request, or waits for it if it is in
  // progress.
  static void ShareWork(TranslationPlan& plan, TranslationUnit& unit);
  // Makes the translation begin with the given text.
  void Force(const std::string& beginning, TranslationUnit& unit) const;
  std::vector<Job> JobsAtWork() const;
  // Returns true if a streaming client has received nothing of its first sentence and at least
  // `decided` tokens of it are final.
  bool SomebodyWaitsForFirstToken(size_t decided) const;
  // Returns the part of the translation that later tokens cannot change.
  std::string StableText(const TranslationSettings& settings, const TranslationUnit& unit) const;
  // Restores the translation of the unit at `index`, which is done, and looks for lost content. If
  // there is any, divides the unit into two that are translated again, and returns true; where that
  // is not possible, notes what is missing.
  bool Review(const Participant& participant, size_t index) const;
  // Takes the translation of a word out of that of its carrier sentence, which is done.
  void TakeCarried(const TranslationPlan& plan, TranslationUnit& unit) const;
  // Has the word of a unit translated within a carrier sentence. lost_content: its translation
  // cannot be right. Returns false if no carrier is known.
  bool Carry(const Participant& participant, bool lost_content, TranslationUnit& unit) const;
  // Has the subject of a unit translated alone if the translation, of which `source` and `target`
  // are the texts without kept spans, lacks a word of it. Returns false if it does not.
  bool TranslateSubject(const Participant& participant, std::string_view source,
                        std::string_view target, TranslationUnit& unit) const;
  // Completes the translation of a unit from that of its subject, which is done.
  void TakeSubject(std::string_view target_language, TranslationUnit& unit) const;
  // Returns whether the unit at `index`, of which only a number is left or not, could be divided.
  bool Divide(const Participant& participant, size_t index, bool only_number) const;
  // Returns the text of tokens that follow the prescribed beginning of the translation, with that
  // beginning.
  std::string TextOf(const TranslationUnit& unit, std::span<const int32_t> tokens) const;
  // Returns the same with all protected text and marks restored, for a sentence that is done.
  MarkedText Restored(const TranslationPlan& plan, const TranslationUnit& unit,
                      std::span<const int32_t> tokens, std::span<const int32_t> alignment) const;
  // Returns the protected and unread parts of a sentence that its translation lacks.
  std::vector<std::string> LostOf(const TranslationUnit& unit, std::string_view translation) const;
  void Emit(const Participant& participant, TranslationUnit& unit) const;
  void EmitPart(const Participant& participant, TranslationUnit& unit) const;

  const StepLimits limits_;
  const Vocabularies& vocabularies_;
  const TranslationEngine& engine_;
  const TranslationCache::ForModel cache_;
  std::vector<Participant> participants_;
  size_t rows_ = 0;    // the rows of all sentences in progress, with or without a job
  size_t tokens_ = 0;  // the tokens of the sentences that this step begins
  bool begun_ = false;
};

}  // namespace millrace::translation
