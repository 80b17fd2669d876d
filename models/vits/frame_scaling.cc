#include "models/vits/frame_scaling.h"

#include <algorithm>
#include <cmath>

namespace millrace::vits {

std::vector<int64_t> ScaleFrames(std::span<const int64_t> frames, std::span<const int64_t> ids,
                                 int64_t pad, double speed) {
  std::vector<int64_t> scaled;
  scaled.reserve(frames.size());
  int64_t before = 0;  // of the frames up to here
  int64_t given = 0;
  for (size_t i = 0; i < frames.size(); ++i) {
    before += frames[i];
    const int64_t wanted = std::llround(static_cast<double>(before) / speed) - given;
    const int64_t least = frames[i] > 1 && ids[i] != pad ? 1 : 0;
    scaled.push_back(std::max(wanted, least));
    given += scaled.back();
  }
  if (given == 0 && !scaled.empty()) scaled.back() = 1;
  return scaled;
}

}  // namespace millrace::vits
