#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace millrace::models {

// What a sample of any model may become: within -1..1, NaN is silence.
inline float Clip(float sample) {
  return std::isnan(sample) ? 0.0F : std::clamp(sample, -1.0F, 1.0F);
}

// Clipped and rounded to the nearest: -32767..32767.
inline int16_t ToS16(float sample) {
  return static_cast<int16_t>(std::lrintf(Clip(sample) * 32767.0F));
}

}  // namespace millrace::models
