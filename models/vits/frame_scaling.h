#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace millrace::vits {

// Returns the frames of each of a network's ids at `speed` times the normal speed. Fractions are
// carried from one id to the next, so that the sum is right to one frame, provided that ids but
// `pad` can keep one frame each if they had two or more. A pad may have none. There must be as many
// ids as frames, and speed must be > 0. Thread-safe.
std::vector<int64_t> ScaleFrames(std::span<const int64_t> frames, std::span<const int64_t> ids,
                                 int64_t pad, double speed);

}  // namespace millrace::vits
