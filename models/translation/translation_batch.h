#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "models/core/model.h"
#include "models/translation/translation_engine.h"
#include "models/translation/translation_plan.h"
#include "models/translation/vocabulary.h"

namespace millrace::models {

// How much one step takes on.
struct StepLimits {
  size_t max_source_tokens = 256;  // of one sentence
  float max_length_factor = 2.5F;
  // Of the whole step; each request gets one sentence in any case.
  size_t max_sentences = 32;
  size_t max_step_tokens = 2048;
};

// One step of translation requests: their next sentences. The engine and vocabulary must outlive
// it.
class TranslationBatch final : public Batch {
 public:
  // frame_of: what stands around the sentences of a request.
  TranslationBatch(std::span<Request* const> requests, const StepLimits& limits,
                   absl::FunctionRef<SentenceFrame(const TranslateInput&)> frame_of,
                   const Vocabulary& vocabulary, const TranslationEngine& engine);

  void Forward(runtime::WorkerContext& context) override;
  void Complete() override;

 private:
  // A sentence, or a part of one that is too long.
  struct Unit {
    TextCursor begin;
    TextCursor end;
    Sentence sentence;
    size_t words = 0;
    std::optional<size_t> job;  // none: it goes out as it came in
    bool text_finished = false;
  };
  struct Participant {
    Request* request;
    TranslationPlan* plan;
    SentenceFrame frame;
    TextCursor next;
    std::vector<Unit> units;
  };

  // Takes the participant's next sentence; false when it has none left.
  bool TakeNext(size_t participant, const StepLimits& limits);
  bool Stopped(const Participant& participant) const;
  void Emit(const Participant& participant, const Unit& unit) const;

  const Vocabulary& vocabulary_;
  const TranslationEngine& engine_;
  std::vector<Participant> participants_;
  std::vector<SentenceJob> jobs_;
  std::vector<size_t> owners_;  // of the jobs: indices of participants_
  // Of all units, those without a job too.
  size_t units_ = 0;
  size_t tokens_ = 0;
};

}  // namespace millrace::models
