#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "absl/functional/function_ref.h"
#include "models/core/request.h"
#include "models/speech/speech_cache.h"
#include "models/speech/speech_plan.h"
#include "models/speech/speech_reader.h"

namespace millrace::speech {

// Looks up the units of a request in the cache, and records those that are not there while they are
// spoken, so that a unit is kept once its last sample is known. Used by one worker at a time.
class UnitRecorder {
 public:
  explicit UnitRecorder(const SpeechCache::ForModel& cache) : cache_(cache) {}

  // Returns true if units are looked up at all.
  bool on() const { return cache_.on(); }
  // Returns the audio of a unit; if it is null, the unit is to be spoken and recorded. Forgets the
  // unit before, which was kept or was not spoken to its end.
  std::shared_ptr<const UnitAudio> Find(const UnitInput& input);

  // Begins the audio of the unit that was looked up last: the frames of its ids, and the number of
  // samples to come. A second call, after a step that failed, begins it again.
  void Begin(std::span<const int64_t> frames, size_t samples);
  // Adds the next samples. The last of them put the unit into the cache.
  void Add(std::span<const float> samples);

 private:
  const SpeechCache::ForModel cache_;
  std::string key_;  // the unit's; empty: it is not recorded
  UnitAudio audio_;
  size_t expected_ = 0;  // all of its samples; 0: it has not begun
};

// The most cached units of a request that a step emits, so that a client which reads slowly has few
// of them waiting for it.
inline constexpr size_t kMaxCachedUnits = 4;

// Advances a request to a unit that the network has to speak, and emits those before it that are
// cached. Returns false if there is none, as SpeechPlan::Prepare does.
//
// emit_cached: emits the plan's current unit if it is cached; returns false if it is not.
bool PrepareUncached(models::Request& request, SpeechPlan& plan, const SpeechReader& reader,
                     absl::FunctionRef<bool()> emit_cached);

}  // namespace millrace::speech
