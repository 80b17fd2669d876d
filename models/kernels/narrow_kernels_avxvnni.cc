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
  using Weights = __m256i;

  static Weights Prepare(__m256i weights) { return weights; }
  static __m256i Start(const NarrowProduct& p, int64_t column) {
    Ints sums;
    __builtin_memcpy(&sums, p.sums + column, sizeof(sums));
    return (__m256i)(sums * -128);
  }
  static __m256i Add(__m256i sums, __m256i x, __m256i weights) {
    MultiplyAdd(sums, x, weights);
    return sums;
  }
};

}  // namespace

constinit const NarrowKernels kAvxVnniInt8 = {
    "avxvnni", Target::kAvxVnni, &ConvertToInt8<UnsignedDot::kFlip>, &MultiplyInt8<UnsignedDot>};

}  // namespace millrace::kernels
