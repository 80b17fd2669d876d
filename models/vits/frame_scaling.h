#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace millrace::vits {

// The frames of each of a network's ids when all is said `speed` times as fast. Fractions are
// carried from one to the next, so that the sum is right to one frame, as long as ids but `pad` can
// keep one frame each, if they had two or more. A pad may have none. There are as many ids as
// frames; speed > 0. Thread-safe.
std::vector<int64_t> ScaleFrames(std::span<const int64_t> frames, std::span<const int64_t> ids,
                                 int64_t pad, double speed);

}  // namespace millrace::vits
