#include "models/translation/translation_engine.h"

#include <limits>
#include <utility>

#include "models/translation/aten_engine.h"
#include "models/translation/bergamot_weights.h"
#include "models/translation/quantised_engine.h"

namespace millrace::models {

SentenceJob MakeSentenceJob(const std::vector<int32_t>& words, const SentenceFrame& frame,
                            float max_length_factor) {
  constexpr size_t kSpareWords = 5;
  SentenceJob job;
  job.source.reserve(frame.before.size() + words.size() + frame.after.size());
  for (const auto* part : {&frame.before, &words, &frame.after})
    job.source.insert(job.source.end(), part->begin(), part->end());
  job.prefix = frame.prefix;
  job.max_target =
      static_cast<size_t>(static_cast<float>(job.source.size()) * max_length_factor) + kSpareWords;
  return job;
}

SentenceJob MakeSentenceJob(const std::vector<int32_t>& words, float max_length_factor) {
  return MakeSentenceJob(words, {.after = {BergamotWeights::kEndOfSentence}}, max_length_factor);
}

void SentenceJob::Suspend() {
  if (state != nullptr) suspended = state->TakeSearch();
  state.reset();
  alignment.clear();
  stopped = false;
  if (suspended == nullptr) target.clear();
}

void TranslationEngine::Translate(std::span<SentenceJob> jobs,
                                  absl::FunctionRef<bool(size_t)> should_stop,
                                  runtime::WorkerContext& context) const {
  std::vector<SentenceJob*> all;
  for (SentenceJob& job : jobs) all.push_back(&job);
  Advance(all, std::numeric_limits<size_t>::max(), should_stop, context);
}

std::unique_ptr<const TranslationEngine> MakeTranslationEngine(TranslationEngineKind kind,
                                                               const BergamotWeights& weights,
                                                               runtime::DeviceType device,
                                                               std::string model) {
  switch (kind) {
    case TranslationEngineKind::kQuantised:
      return MakeQuantisedEngine(weights, *kernels::SupportedKernels().front());
    case TranslationEngineKind::kAten:
      return MakeAtenEngine(weights, device, std::move(model));
  }
  return nullptr;
}

}  // namespace millrace::models
