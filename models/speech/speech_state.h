#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "models/core/model_info.h"
#include "models/core/payload.h"
#include "models/core/request.h"
#include "models/speech/speech_cache.h"
#include "models/speech/speech_plan.h"
#include "models/speech/unit_recorder.h"
#include "models/speech/voice_traits.h"

namespace millrace::speech {

// The state that a voice keeps of a unit between the steps that speak it.
class UnitState {
 public:
  virtual ~UnitState() = default;
};

// The units of a request that are left to speak, and how much of the current one was spoken. The
// input, the description of the model and the traits must outlive it. Used by one worker at a time.
class SpeechState final : public models::RequestState {
 public:
  SpeechState(const models::SynthesizeInput& input, const models::ModelInfo& info,
              const VoiceTraits& traits, const models::SpeechPauses& pauses,
              const SpeechCache::ForModel& cache);

  // Begins a unit whose ids last so many frames at normal speed, and scales these to the speed of
  // the network. Returns false if the unit would last too long, and its halves come first. An error
  // ends the request.
  absl::StatusOr<bool> BeginUnit(std::vector<int64_t>& frames);
  // Begins a unit of which the audio is known.
  void BeginUnit(const UnitAudio& known);
  // Returns the number of frames that the next step speaks.
  int64_t NextFrames() const;
  // Makes a chunk of the next samples of the unit and says whether it is the last one.
  models::SynthesizeOutput TakeChunk(std::vector<float> samples, bool& last);
  // Returns the share of the unit that was spoken, 0..1.
  double spoken_part() const;

  SpeechPlan plan;
  UnitRecorder recorder;
  std::unique_ptr<UnitState> unit;  // null: the voice has not begun the unit, or keeps nothing

  // The frames of the unit that was begun, and how many of them were spoken.
  int64_t frames() const { return frames_; }
  int64_t spoken_frames() const { return spoken_frames_; }

 private:
  const models::ModelInfo& info_;
  const VoiceTraits& traits_;
  const int64_t tail_frames_;  // the least frames of the last chunk: slow speech ends slowly
  const bool streamed_;
  int64_t frames_ = 0;
  int64_t spoken_frames_ = 0;
};

// The request must have a state, as it has from its first Prepare on.
inline SpeechState& StateOf(models::Request& request) {
  return static_cast<SpeechState&>(*request.state());
}

}  // namespace millrace::speech
