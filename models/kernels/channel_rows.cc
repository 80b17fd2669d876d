#include "models/kernels/channel_rows.h"

#include <algorithm>

#include "models/kernels/parallel_for.h"

namespace millrace::kernels {
namespace {

constexpr int64_t kRows = 16;  // their cache lines stay in the cache
// The values of a part: some tens of microseconds.
constexpr int64_t kPartValues = 64 * 1024;

// Calls visit(place in [channels][time], place in the rows) for each value of the span.
template <typename Visit>
void ForEachValue(const ChannelSpan& span, int64_t width, const Visit& visit) {
  const int64_t step = std::max(kPartValues / span.channels / kRows, int64_t{1}) * kRows;
  ParallelFor((span.end - span.begin + step - 1) / step, [&](int64_t part) {
    const int64_t first = span.begin + part * step;
    const int64_t last = std::min(first + step, span.end);
    for (int64_t begin = first; begin < last; begin += kRows) {
      const int64_t end = std::min(begin + kRows, last);
      for (int64_t c = 0; c < span.channels; ++c) {
        for (int64_t t = begin; t < end; ++t) visit(c * span.time + t, t * width + c);
      }
    }
  });
}

}  // namespace

void ToRows(const float* from, const ChannelSpan& span, int64_t width, float* rows) {
  ForEachValue(span, width, [&](int64_t at, int64_t in_rows) { rows[in_rows] = from[at]; });
}

void FromRows(const float* rows, const ChannelSpan& span, int64_t width, float* to) {
  ForEachValue(span, width, [&](int64_t at, int64_t in_rows) { to[at] = rows[in_rows]; });
}

void AddFromRows(const float* rows, const ChannelSpan& span, int64_t width, float* to) {
  ForEachValue(span, width, [&](int64_t at, int64_t in_rows) { to[at] += rows[in_rows]; });
}

}  // namespace millrace::kernels
