#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace millrace::speech {

// Returns the frames of each of a network's ids at `speed` times the normal speed. Fractions are
// carried from one id to the next, so that the sum is right to half a frame. An id that is a sound
// keeps at least one frame, which the ids after it yield; only if there are more sounds than frames
// the sum is greater. Other ids, such as pads, stress marks and pauses, may have none. There must
// be as many `sounds` as frames, and speed must be > 0. A speed of 1 changes nothing. Thread-safe.
std::vector<int64_t> ScaleFrames(std::span<const int64_t> frames, const std::vector<bool>& sounds,
                                 double speed);

}  // namespace millrace::speech
