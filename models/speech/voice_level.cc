#include "models/speech/voice_level.h"

#include <cmath>

namespace millrace::speech {

void ApplyGain(float decibels, std::span<float> samples) {
  if (decibels == 0) return;
  constexpr float kKnee = 0.8F;
  constexpr float kRoom = 1 - kKnee;
  const float gain = std::pow(10.0F, decibels / 20);
  for (float& sample : samples) {
    sample *= gain;
    const float size = std::abs(sample);
    if (size > kKnee)
      sample = std::copysign(kKnee + kRoom * std::tanh((size - kKnee) / kRoom), sample);
  }
}

}  // namespace millrace::speech
