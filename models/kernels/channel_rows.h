#pragma once

#include <cstdint>

namespace millrace::kernels {

// Converts [channels][time] to rows of channels, `width` floats each. Floats of a row beyond the
// channels are not written.
void ToRows(const float* from, int64_t channels, int64_t time, int64_t width, float* rows);

// Converts rows of channels to [channels][time].
void FromRows(const float* rows, int64_t channels, int64_t time, int64_t width, float* to);

// The same, but adds to the values there.
void AddFromRows(const float* rows, int64_t channels, int64_t time, int64_t width, float* to);

}  // namespace millrace::kernels
