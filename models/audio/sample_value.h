#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace millrace::models {

// Limits a sample of a model to -1..1; NaN becomes silence.
inline float Clip(float sample) {
  return std::isnan(sample) ? 0.0F : std::clamp(sample, -1.0F, 1.0F);
}

// Clips a sample and rounds it to the nearest of -32767..32767.
inline int16_t ToS16(float sample) {
  return static_cast<int16_t>(std::lrintf(Clip(sample) * 32767.0F));
}

}  // namespace millrace::models
