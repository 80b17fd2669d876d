#pragma once

#include <span>

namespace millrace::speech {

// Amplifies or attenuates samples by this many decibels. A soft limiter begins at -2 dBFS, so that
// nothing reaches full scale; each sample is changed by itself, so that chunks sound like the
// whole. Thread-safe.
void ApplyGain(float decibels, std::span<float> samples);

}  // namespace millrace::speech
