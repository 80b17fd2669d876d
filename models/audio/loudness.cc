#include "models/audio/loudness.h"

#include <ebur128.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "models/audio/sample_value.h"
#include "models/core/errors.h"

namespace millrace::models {
namespace {

constexpr double kTargetLufs = -19;
constexpr float kCeiling = 0.891F;  // -1 dBFS
constexpr float kMaxGain = 10;      // 20 dB: more would be noise
constexpr int kRampsPerSecond = 100;

}  // namespace

struct LoudnessNormalizer::Meter {
  explicit Meter(ebur128_state* state) : state(state) {}
  Meter(const Meter&) = delete;
  Meter& operator=(const Meter&) = delete;
  ~Meter() { ebur128_destroy(&state); }

  ebur128_state* state;
};

void LoudnessNormalizer::Delete::operator()(Meter* meter) const { delete meter; }

absl::StatusOr<LoudnessNormalizer> LoudnessNormalizer::Make(int sample_rate) {
  ebur128_state* state =
      ebur128_init(1, static_cast<unsigned>(sample_rate), EBUR128_MODE_I | EBUR128_MODE_HISTOGRAM);
  if (state == nullptr) return Internal("libebur128 cannot measure loudness: no memory");
  return LoudnessNormalizer(std::unique_ptr<Meter, Delete>(new Meter(state)), sample_rate);
}

void LoudnessNormalizer::Apply(std::span<float> sentence) {
  if (sentence.empty()) return;
  float peak = 0;
  for (float& sample : sentence) {
    sample = Clip(sample);
    peak = std::max(peak, std::abs(sample));
  }
  float target = gain_;
  double lufs = 0;
  if (ebur128_add_frames_float(meter_->state, sentence.data(), sentence.size()) ==
          EBUR128_SUCCESS &&
      ebur128_loudness_global(meter_->state, &lufs) == EBUR128_SUCCESS && std::isfinite(lufs)) {
    target = std::min(kMaxGain, static_cast<float>(std::pow(10.0, (kTargetLufs - lufs) / 20)));
  }
  const float limit = peak > 0 ? kCeiling / peak : kMaxGain;
  target = std::min(target, limit);
  // The gain begins at that of the previous sentence, so that there is no step between the two.
  const float begin = first_ ? target : std::min(gain_, limit);
  const auto ramp = static_cast<size_t>(sample_rate_ / kRampsPerSecond);
  for (size_t i = 0; i < sentence.size(); ++i) {
    const float part = i >= ramp ? 1.0F : static_cast<float>(i) / static_cast<float>(ramp);
    sentence[i] *= begin + part * (target - begin);
  }
  gain_ = target;
  first_ = false;
}

}  // namespace millrace::models
