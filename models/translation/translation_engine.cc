#include "models/translation/translation_engine.h"

#include <limits>
namespace millrace::translation {

SentenceJob MakeSentenceJob(const std::vector<int32_t>& tokens, const SentenceFrame& frame,
                            float max_length_factor) {
  constexpr size_t kSpareTokens = 5;
  SentenceJob job;
  job.source.reserve(frame.before.size() + tokens.size() + frame.after.size());
  for (const auto* part : {&frame.before, &tokens, &frame.after})
    job.source.insert(job.source.end(), part->begin(), part->end());
  job.prefix = frame.prefix;
  job.max_target =
      static_cast<size_t>(static_cast<float>(job.source.size()) * max_length_factor) + kSpareTokens;
  return job;
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

}  // namespace millrace::translation
