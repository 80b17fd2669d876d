#pragma once

#include <cstdint>
#include <span>

namespace millrace::models {

// Sinusoid position encodings for positions begin, begin + 1, ... : rows of dim values, sines
// first, as many as fit in the table. Thread-safe.
void FillPositions(int64_t begin, int64_t dim, std::span<float> table);

}  // namespace millrace::models
