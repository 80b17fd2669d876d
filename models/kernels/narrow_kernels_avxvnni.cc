#include <immintrin.h>

#define MILLRACE_VECTOR_BYTES 32
#include "models/kernels/avxvnni.inl"
#include "models/kernels/narrow_kernels.inl"
#include "models/kernels/narrow_tiles.inl"

namespace millrace::kernels {
namespace {

// VPDPBUSD takes one unsigned factor: numbers of the rows are 128 too large, so sums exceed the
// result by 128 times the sum of the weights.
struct UnsignedDot {
  static constexpr int kFlip = 0x80;
  static constexpr int kTileRows = 6;
  static constexpr int kLines = 4;
  static constexpr int64_t kBlockRows = int64_t{1} << 32;  // all

  UnsignedDot(const NarrowProduct& p, int64_t /*row*/, int64_t /*rows*/, int64_t column)
      : sums(p.sums + column) {}

  __m256i Start(int64_t /*row*/, int64_t v) const {
    Ints start;
    __builtin_memcpy(&start, sums + v * kLanes, sizeof(start));
    return (__m256i)(start * -128);
  }
  static __m256i Add(__m256i sums, __m256i x, __m256i weights) {
    MultiplyAdd(sums, x, weights);
    return sums;
  }

  const int32_t* sums;
};

}  // namespace

constinit const NarrowKernels kAvxVnniInt8 = {
    "avxvnni", Target::kAvxVnni, &ConvertToInt8<UnsignedDot::kFlip>, &MultiplyInt8<UnsignedDot>};

}  // namespace millrace::kernels
