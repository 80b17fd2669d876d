#pragma once

#include <cstdint>

namespace millrace::kernels {

// From [channels][time] to rows of channels, `width` floats each; what lies beyond the channels is
// left alone.
void ToRows(const float* from, int64_t channels, int64_t time, int64_t width, float* rows);

// The other way round.
void FromRows(const float* rows, int64_t channels, int64_t time, int64_t width, float* to);

}  // namespace millrace::kernels
