#include "models/kernels/narrow_neon.inl"

namespace millrace::kernels {
namespace {

// SMMLA multiplies two rows by two columns, eight bytes of each, and adds to their four sums.
struct MatrixTiles {
  static constexpr int kMostRows = 6;  // three pairs, times eight vectors of sums

  template <int kRows>
  static void Compute(const NarrowProduct& p, int64_t row, int64_t column) {
    constexpr int64_t kTogether = 2 * kGroupBytes;
    constexpr int kPairs = (kRows + 1) / 2;
    const auto* a = reinterpret_cast<const int8_t*>(p.a) + row * p.depth;
    int32x4_t sums[kPairs][2 * kHalfVectors] = {};
    for (int64_t tap = 0; tap < p.taps; ++tap, a += p.dilation * p.depth) {
      for (int64_t at = 0; at < p.depth; at += kTogether) {
        const auto* lines = reinterpret_cast<const int8_t*>(p.panels) +
                            NarrowOffset(column, tap * p.depth + at, ColumnBytes(p));
        int8x16_t x[kPairs];
#pragma GCC unroll 3
        for (int i = 0; i < kPairs; ++i) {
          const int8_t* first = a + 2 * i * p.depth + at;
          // The last of an odd number of rows is its own partner.
          x[i] = vcombine_s8(vld1_s8(first), vld1_s8(2 * i + 1 < kRows ? first + p.depth : first));
        }
#pragma GCC unroll 4
        for (int64_t v = 0; v < kHalfVectors; ++v) {
          const int32x4_t first = vreinterpretq_s32_s8(vld1q_s8(lines + v * 16));
          const int32x4_t second = vreinterpretq_s32_s8(vld1q_s8(lines + kLineBytes + v * 16));
          const int8x16_t left = vreinterpretq_s8_s32(vzip1q_s32(first, second));
          const int8x16_t right = vreinterpretq_s8_s32(vzip2q_s32(first, second));
#pragma GCC unroll 3
          for (int i = 0; i < kPairs; ++i) {
            sums[i][2 * v] = vmmlaq_s32(sums[i][2 * v], x[i], left);
            sums[i][2 * v + 1] = vmmlaq_s32(sums[i][2 * v + 1], x[i], right);
          }
        }
      }
    }
#pragma GCC unroll 3
    for (int i = 0; i < kPairs; ++i) {
      int32x4_t upper[1][kHalfVectors];
      int32x4_t lower[1][kHalfVectors];
#pragma GCC unroll 4
      for (int64_t v = 0; v < kHalfVectors; ++v) {
        const int64x2_t left = vreinterpretq_s64_s32(sums[i][2 * v]);
        const int64x2_t right = vreinterpretq_s64_s32(sums[i][2 * v + 1]);
        upper[0][v] = vreinterpretq_s32_s64(vzip1q_s64(left, right));
        lower[0][v] = vreinterpretq_s32_s64(vzip2q_s64(left, right));
      }
      FinishInt8(p, row + 2 * i, column, upper);
      if (2 * i + 1 < kRows) FinishInt8(p, row + 2 * i + 1, column, lower);
    }
  }
};

}  // namespace

constinit const NarrowKernels kNeonMatrixInt8 = {"neon_i8mm", Target::kNeonInt8Matrix,
                                                 &ConvertToInt8<0>, &MultiplyInt8<MatrixTiles>};

}  // namespace millrace::kernels
