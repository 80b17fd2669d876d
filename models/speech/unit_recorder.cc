#include "models/speech/unit_recorder.h"

#include <utility>

#include "absl/status/status.h"

namespace millrace::speech {

std::shared_ptr<const UnitAudio> UnitRecorder::Find(const UnitInput& input) {
  key_.clear();
  audio_ = {};
  expected_ = 0;
  if (!cache_.on()) return nullptr;
  std::string key = cache_.KeyOf(input);
  std::shared_ptr<const UnitAudio> known = cache_.Find(key);
  if (known == nullptr) key_ = std::move(key);
  return known;
}

void UnitRecorder::Begin(std::span<const int64_t> frames, size_t samples) {
  audio_ = {};
  expected_ = 0;
  if (key_.empty() || samples == 0 ||
      !cache_.HasRoomFor(UnitAudio::BytesOf(frames.size(), samples), key_.size())) {
    return;
  }
  audio_.frames.assign(frames.begin(), frames.end());
  audio_.samples.reserve(samples);
  expected_ = samples;
}

void UnitRecorder::Add(std::span<const float> samples) {
  if (expected_ == 0) return;
  audio_.samples.insert(audio_.samples.end(), samples.begin(), samples.end());
  if (audio_.samples.size() < expected_) return;
  expected_ = 0;
  cache_.Insert(std::exchange(key_, {}), std::exchange(audio_, {}));
}

bool PrepareUncached(models::Request& request, SpeechPlan& plan, const SpeechReader& reader,
                     absl::FunctionRef<bool()> emit_cached) {
  for (size_t emitted = 0; plan.Prepare(request, reader); ++emitted) {
    if (emitted == kMaxCachedUnits) return false;
    if (!emit_cached()) return true;
    const bool more = plan.Advance();
    request.AdvanceTo(plan.WorkLeft());
    if (!more) {
      request.Finish(absl::OkStatus());
      return false;
    }
  }
  return false;
}

}  // namespace millrace::speech
