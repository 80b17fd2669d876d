#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "models/core/payload.h"
#include "models/core/request.h"
#include "models/speech/speech_cache.h"
#include "models/speech/speech_plan.h"
#include "models/speech/unit_recorder.h"
#include "models/vits/vits_decoder.h"

namespace millrace::vits {

// The units of a request that are left to speak. Used by one worker at a time.
struct SpeechState final : models::RequestState {
  // Chunks of a streamed unit: a third of a second first, then longer ones up to about four
  // seconds.
  static constexpr int64_t kFirstChunkFrames = 32;
  static constexpr int64_t kChunkFrames = 384;
  // About two seconds. In shorter units the sounds at both ends, which last about as long at any
  // speed, would make more than 3 % of the time.
  static constexpr size_t kStretchedSymbols = 32;

  SpeechState(const models::SynthesizeInput& input, const models::SpeechPauses& pauses, int64_t hop,
              int sample_rate, const speech::SpeechCache::ForModel& cache)
      : tail_frames(std::lround(kFirstChunkFrames / std::min(speech::SlowestSpeed(input), 1.0F))),
        plan(input, {.lead_samples = static_cast<size_t>(kFirstChunkFrames * hop),
                     .tail_samples = static_cast<size_t>(tail_frames * hop),
                     .pauses = pauses,
                     .sample_rate = sample_rate,
                     .stretched_symbols = kStretchedSymbols}),
        recorder(input.use_cache ? cache : speech::SpeechCache::ForModel()) {}

  // Returns the number of frames of the unit that the next step speaks.
  int64_t NextChunk(bool streamed) const {
    const int64_t rest = frames - spoken;
    if (!streamed || plan.Stretches()) return rest;
    // The next chunk is as long as the audio that the listener already has.
    const int64_t chunk = std::clamp(spoken, kFirstChunkFrames, kChunkFrames);
    return rest < chunk + tail_frames ? rest : chunk;
  }

  const int64_t tail_frames;  // of the last chunk at least: slow speech ends slowly
  speech::SpeechPlan plan;
  speech::UnitRecorder recorder;
  std::unique_ptr<VitsDecoder::Decoding> decoding;  // of the current unit; null: not begun
  int64_t frames = 0;                               // of that decoding
  int64_t spoken = 0;                               // how many of them were emitted
};

// The request must have a state, as it has from its first Prepare on.
inline SpeechState& StateOf(models::Request& request) {
  return static_cast<SpeechState&>(*request.state());
}

}  // namespace millrace::vits
