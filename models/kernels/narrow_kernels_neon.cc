#include "models/kernels/narrow_neon.inl"

namespace millrace::kernels {
namespace {

// The products of two groups with the same columns are summed in 16 bits, which holds two products
// of numbers up to 127, and then added to 32-bit sums in pairs.
struct NeonTiles {
  static constexpr int kMostRows = 2;  // times eight vectors of sums, with their factors

  template <int kRows>
  static void Compute(const NarrowProduct& p, int64_t row, int64_t column) {
    const auto* a = reinterpret_cast<const int8_t*>(p.a) + row * p.depth;
    // Lanes 0 and 1, and lanes 2 and 3, are parts of the sum of one column.
    int32x4_t parts[kRows][2 * kHalfVectors] = {};
    for (int64_t tap = 0; tap < p.taps; ++tap, a += p.dilation * p.depth) {
      for (int64_t at = 0; at < p.depth; at += 2 * kGroupBytes) {
        const auto* line = reinterpret_cast<const int8_t*>(p.panels) +
                           NarrowOffset(column, tap * p.depth + at, ColumnBytes(p));
        int8x16_t x[kRows][2];
#pragma GCC unroll 2
        for (int r = 0; r < kRows; ++r) {
          x[r][0] = Group(a + r * p.depth + at);
          x[r][1] = Group(a + r * p.depth + at + kGroupBytes);
        }
#pragma GCC unroll 4
        for (int64_t v = 0; v < kHalfVectors; ++v) {
          const int8x16_t first = vld1q_s8(line + v * 16);
          const int8x16_t second = vld1q_s8(line + kLineBytes + v * 16);
#pragma GCC unroll 2
          for (int r = 0; r < kRows; ++r) {
            int16x8_t low = vmull_s8(vget_low_s8(first), vget_low_s8(x[r][0]));
            low = vmlal_s8(low, vget_low_s8(second), vget_low_s8(x[r][1]));
            int16x8_t high = vmull_high_s8(first, x[r][0]);
            high = vmlal_high_s8(high, second, x[r][1]);
            parts[r][2 * v] = vpadalq_s16(parts[r][2 * v], low);
            parts[r][2 * v + 1] = vpadalq_s16(parts[r][2 * v + 1], high);
          }
        }
      }
    }
    int32x4_t sums[kRows][kHalfVectors];
#pragma GCC unroll 2
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
      for (int64_t v = 0; v < kHalfVectors; ++v)
        sums[r][v] = vpaddq_s32(parts[r][2 * v], parts[r][2 * v + 1]);
    }
    FinishInt8(p, row, column, sums);
  }

 private:
  // Returns a group of a row in each four bytes.
  static int8x16_t Group(const int8_t* from) {
    int32_t group;
    __builtin_memcpy(&group, from, sizeof(group));
    return vreinterpretq_s8_s32(vdupq_n_s32(group));
  }
};

}  // namespace

constinit const NarrowKernels kNeonInt8 = {"neon", Target::kNeon, &ConvertToInt8<0>,
                                           &MultiplyInt8<NeonTiles>};

}  // namespace millrace::kernels
