#pragma once

#include <cstddef>

#include "models/core/payload.h"
#include "models/core/request.h"
#include "models/speech/speech_cache.h"
#include "models/speech/speech_plan.h"
#include "models/speech/unit_recorder.h"

namespace millrace::kokoro {

// The units of a request that are left to speak. Used by one worker at a time.
struct SpeechState final : models::RequestState {
  // Kokoro speaks about 200 phonemes best, and the decoder's memory grows with them.
  static constexpr size_t kMaxUnitBytes = 200;

  SpeechState(const models::SynthesizeInput& input, const models::SpeechPauses& pauses,
              int sample_rate, const speech::SpeechCache::ForModel& cache)
      : plan(input, {.max_bytes = kMaxUnitBytes,
                     .first_clause_alone = true,
                     .pauses = pauses,
                     .sample_rate = sample_rate,
                     .stretched_symbols = speech::kAllSymbols}),
        recorder(input.use_cache ? cache : speech::SpeechCache::ForModel()) {}

  speech::SpeechPlan plan;
  speech::UnitRecorder recorder;
};

// The request must have a state, as it has from its first Prepare on.
inline SpeechState& StateOf(models::Request& request) {
  return static_cast<SpeechState&>(*request.state());
}

inline speech::SpeechPlan& PlanOf(models::Request& request) { return StateOf(request).plan; }

}  // namespace millrace::kokoro
