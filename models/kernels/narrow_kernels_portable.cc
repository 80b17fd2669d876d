#define MILLRACE_VECTOR_BYTES 16
#include "models/kernels/narrow_kernels.inl"
#include "models/kernels/widening_kernels.inl"

namespace millrace::kernels {
namespace {

void MultiplyInt8(const NarrowProduct& p) {
  for (int64_t column = 0; column < p.outputs; column += kNarrowHalf) {
    for (int64_t row = 0; row < p.rows; ++row) {
      const auto* a = reinterpret_cast<const int8_t*>(p.a) + row * p.depth;
      int32_t sums[kNarrowHalf] = {};
      for (int64_t tap = 0; tap < p.taps; ++tap, a += p.dilation * p.depth) {
        for (int64_t at = 0; at < p.depth; at += kGroupBytes) {
          const auto* line = reinterpret_cast<const int8_t*>(p.panels) +
                             NarrowOffset(column, tap * p.depth + at, ColumnBytes(p));
          for (int64_t n = 0; n < kNarrowHalf; ++n) {
            for (int64_t i = 0; i < kGroupBytes; ++i)
              sums[n] += a[at + i] * line[n * kGroupBytes + i];
          }
        }
      }
      Ints vectors[1][kHalfVectors];
      __builtin_memcpy(vectors, sums, sizeof(sums));
      FinishInt8(p, row, column, vectors);
    }
  }
}

}  // namespace

constinit const NarrowKernels kPortableInt8 = {"portable", Target::kPortable, &ConvertToInt8<0>,
                                               &MultiplyInt8};
constinit const NarrowKernels kPortableBfloat = {"portable", Target::kPortable, &ConvertToBfloat,
                                                 &MultiplyWidened};

}  // namespace millrace::kernels
