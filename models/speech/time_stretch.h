#pragma once

#include <span>
#include <vector>

namespace millrace::speech {

// Returns the samples at `speed` times their speed and at the same pitch, which are exactly
// round(samples / speed) of them. Pieces of the sound overlap where their waves match (WSOLA). A
// speed of 1 changes nothing; it must be > 0. Linear time. Thread-safe.
std::vector<float> StretchTime(std::span<const float> samples, double speed, int sample_rate);

}  // namespace millrace::speech
