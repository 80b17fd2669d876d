#include "models/speech/speech_state.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "models/core/errors.h"
#include "models/core/strings.h"

namespace millrace::speech {
namespace {

int64_t TailFrames(const models::SynthesizeInput& input, const VoiceTraits& traits) {
  return std::lround(static_cast<float>(traits.first_chunk_frames) /
                     std::min(SlowestSpeed(input), 1.0F));
}

}  // namespace

SpeechState::SpeechState(const models::SynthesizeInput& input, const models::ModelInfo& info,
                         const VoiceTraits& traits, const models::SpeechPauses& pauses,
                         const SpeechCache::ForModel& cache)
    : plan(input, {.max_bytes = traits.max_unit_bytes,
                   .first_clause_alone = traits.first_clause_alone,
                   .lead_samples =
                       static_cast<size_t>(traits.first_chunk_frames * traits.samples_per_frame),
                   .tail_samples =
                       static_cast<size_t>(TailFrames(input, traits) * traits.samples_per_frame),
                   .pauses = pauses,
                   .sample_rate = info.speech().sample_rate,
                   .stretched_symbols = traits.stretched_symbols}),
      recorder(input.use_cache ? cache : SpeechCache::ForModel()),
      info_(info),
      traits_(traits),
      tail_frames_(TailFrames(input, traits)),
      streamed_(input.streamed) {}

absl::StatusOr<bool> SpeechState::BeginUnit(std::vector<int64_t>& frames) {
  const bool usable = std::ranges::all_of(
      frames, [this](int64_t count) { return count >= 1 && count <= traits_.max_id_frames; });
  if (!usable) {
    return Internal("model '", info_.name, "' gave a phoneme a length that is no number");
  }
  frames = plan.ScaledFrames(frames);
  const int64_t count = std::accumulate(frames.begin(), frames.end(), int64_t{0});
  const int64_t samples = count * traits_.samples_per_frame;
  const int64_t rate = info_.speech().sample_rate;
  if (samples > traits_.max_unit_seconds * rate) {
    if (plan.Halve()) return false;
    return InvalidArgument(plan.field(), View(traits_.length_fields), ": one sentence would last ",
                           samples / rate, " seconds",
                           traits_.stretched_symbols == kAllSymbols ? " at normal speed" : "",
                           ", allowed are ", traits_.max_unit_seconds);
  }
  plan.SetFrames(frames, traits_.samples_per_frame);
  recorder.Begin(frames, static_cast<size_t>(samples));
  frames_ = count;
  spoken_frames_ = 0;
  return true;
}

void SpeechState::BeginUnit(const UnitAudio& known) {
  plan.SetFrames(known.frames, traits_.samples_per_frame);
  frames_ = static_cast<int64_t>(known.samples.size()) / traits_.samples_per_frame;
  spoken_frames_ = 0;
}

int64_t SpeechState::NextFrames() const {
  const int64_t rest = frames_ - spoken_frames_;
  if (!streamed_ || traits_.max_chunk_frames == 0 || plan.Stretches()) return rest;
  // The next chunk is as long as the audio that the listener already has.
  const int64_t chunk =
      std::clamp(spoken_frames_, traits_.first_chunk_frames, traits_.max_chunk_frames);
  return rest < chunk + tail_frames_ ? rest : chunk;
}

models::SynthesizeOutput SpeechState::TakeChunk(std::vector<float> samples, bool& last) {
  spoken_frames_ += static_cast<int64_t>(samples.size()) / traits_.samples_per_frame;
  last = traits_.max_chunk_frames == 0 || spoken_frames_ >= frames_;
  return plan.TakeChunk(std::move(samples), info_.speech().sample_rate, last);
}

double SpeechState::spoken_part() const {
  return static_cast<double>(spoken_frames_) / static_cast<double>(frames_);
}

}  // namespace millrace::speech
