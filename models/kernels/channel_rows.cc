#include "models/kernels/channel_rows.h"

#include <algorithm>

namespace millrace::kernels {
namespace {

constexpr int64_t kRows = 16;  // their cache lines stay in the cache

// Calls put(to, value) for each value of the rows and its place in [channels][time].
template <typename Put>
void ForEachOfRows(const float* rows, int64_t channels, int64_t time, int64_t width, float* to,
                   const Put& put) {
  for (int64_t begin = 0; begin < time; begin += kRows) {
    const int64_t end = std::min(begin + kRows, time);
    for (int64_t c = 0; c < channels; ++c) {
      for (int64_t t = begin; t < end; ++t) put(to[c * time + t], rows[t * width + c]);
    }
  }
}

}  // namespace

void ToRows(const float* from, int64_t channels, int64_t time, int64_t width, float* rows) {
  for (int64_t begin = 0; begin < time; begin += kRows) {
    const int64_t end = std::min(begin + kRows, time);
    for (int64_t c = 0; c < channels; ++c) {
      for (int64_t t = begin; t < end; ++t) rows[t * width + c] = from[c * time + t];
    }
  }
}

void FromRows(const float* rows, int64_t channels, int64_t time, int64_t width, float* to) {
  ForEachOfRows(rows, channels, time, width, to, [](float& at, float value) { at = value; });
}

void AddFromRows(const float* rows, int64_t channels, int64_t time, int64_t width, float* to) {
  ForEachOfRows(rows, channels, time, width, to, [](float& at, float value) { at += value; });
}

}  // namespace millrace::kernels
