#include "models/speech/frame_scaling.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace millrace::speech {

std::vector<int64_t> ScaleFrames(std::span<const int64_t> frames, const std::vector<bool>& sounds,
                                 double speed) {
  if (speed == 1) return {frames.begin(), frames.end()};
  std::vector<int64_t> scaled;
  scaled.reserve(frames.size());
  int64_t before = 0;  // the sum of the frames up to here
  int64_t given = 0;
  for (size_t i = 0; i < frames.size(); ++i) {
    before += frames[i];
    const int64_t wanted = std::llround(static_cast<double>(before) / speed) - given;
    scaled.push_back(std::max<int64_t>(wanted, sounds[i] ? 1 : 0));
    given += scaled.back();
  }
  // The longest ids yield what the last sounds took too much.
  const auto excess = [&] { return given - std::llround(static_cast<double>(before) / speed); };
  while (excess() > 0) {
    const auto longest = std::max_element(scaled.begin(), scaled.end());
    if (*longest <= 1) break;
    --*longest;
    --given;
  }
  if (given == 0 && !scaled.empty()) scaled.back() = 1;
  return scaled;
}

}  // namespace millrace::speech
