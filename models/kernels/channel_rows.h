#pragma once

#include <cstdint>

namespace millrace::kernels {

// A signal as [channels][time], of which some times, begin .. end - 1, are converted.
struct ChannelSpan {
  int64_t channels = 0;
  int64_t time = 0;
  int64_t begin = 0;
  int64_t end = 0;

  static ChannelSpan Whole(int64_t channels, int64_t time) { return {channels, time, 0, time}; }
};

// These run by ParallelFor.

// Converts [channels][time] to rows of channels, `width` floats each. Floats of a row beyond the
// channels are not written. All pointers are those of time 0.
void ToRows(const float* from, const ChannelSpan& span, int64_t width, float* rows);

// Converts rows of channels to [channels][time].
void FromRows(const float* rows, const ChannelSpan& span, int64_t width, float* to);

// The same, but adds to the values there.
void AddFromRows(const float* rows, const ChannelSpan& span, int64_t width, float* to);

}  // namespace millrace::kernels
