#pragma once

#include <bit>
#include <cstdint>

namespace millrace::models {

// Returns the padded size for a size >= 1, for devices that keep something for each shape. Buckets
// are `smallest`, which is a power of two of at least 4, and above it powers of two with three even
// steps between them, so that less than a fifth is padding.
constexpr int64_t ShapeBucket(int64_t size, int64_t smallest) {
  if (size <= smallest) return smallest;
  const auto step = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(size)) / 8);
  return (size + step - 1) / step * step;
}

}  // namespace millrace::models
