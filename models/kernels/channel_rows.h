#pragma once

#include <cstdint>

namespace millrace::kernels {

// The shape of a signal as [channels][time].
struct ChannelShape {
  int64_t channels = 0;
  int64_t time = 0;
};

// Returns the distance between rows of so many channels for which the rows of a convolution's tile
// do not share a set of the L1 cache, as rows at a multiple of 4 KiB do. At least `channels`; a
// multiple of the floats of a cache line if `channels` is.
constexpr int64_t RowPitch(int64_t channels) {
  constexpr int64_t kPageFloats = 1024;
  constexpr int64_t kLineFloats = 16;
  return channels % kPageFloats == 0 ? channels + kLineFloats : channels;
}

// These run by ParallelFor.

// Converts [channels][time] to rows of channels, `width` floats each. Floats of a row beyond the
// channels are not written.
void ToRows(const float* from, const ChannelShape& shape, int64_t width, float* rows);

// Converts rows of channels to [channels][time].
void FromRows(const float* rows, const ChannelShape& shape, int64_t width, float* to);

}  // namespace millrace::kernels
