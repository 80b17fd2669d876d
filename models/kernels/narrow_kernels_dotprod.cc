#include "models/kernels/narrow_neon.inl"

namespace millrace::kernels {
namespace {

// SDOT adds the four products of a group to the sum of its column.
struct DotTiles {
  static constexpr int kMostRows = 4;  // times four vectors of sums, with their factors

  template <int kRows>
  static void Compute(const NarrowProduct& p, int64_t row, int64_t column) {
    constexpr int64_t kTogether = 4 * kGroupBytes;  // a vector of a row
    const auto* a = reinterpret_cast<const int8_t*>(p.a) + row * p.depth;
    int32x4_t sums[kRows][kHalfVectors] = {};
    for (int64_t tap = 0; tap < p.taps; ++tap, a += p.dilation * p.depth) {
      for (int64_t at = 0; at < p.depth; at += kTogether) {
        const auto* lines = reinterpret_cast<const int8_t*>(p.panels) +
                            NarrowOffset(column, tap * p.depth + at, ColumnBytes(p));
        int8x16_t x[kRows];
#pragma GCC unroll 4
        for (int r = 0; r < kRows; ++r) x[r] = vld1q_s8(a + r * p.depth + at);
        AddLine<0>(lines, x, sums);
        AddLine<1>(lines + kLineBytes, x, sums);
        AddLine<2>(lines + 2 * kLineBytes, x, sums);
        AddLine<3>(lines + 3 * kLineBytes, x, sums);
      }
    }
    FinishInt8(p, row, column, sums);
  }

 private:
  // Adds the products of a line with group kGroup of each row.
  template <int kGroup, int kRows>
  static inline __attribute__((always_inline)) void AddLine(
      const int8_t* line, const int8x16_t (&x)[kRows], int32x4_t (&sums)[kRows][kHalfVectors]) {
#pragma GCC unroll 4
    for (int64_t v = 0; v < kHalfVectors; ++v) {
      const int8x16_t weights = vld1q_s8(line + v * 16);
#pragma GCC unroll 4
      for (int r = 0; r < kRows; ++r)
        sums[r][v] = vdotq_laneq_s32(sums[r][v], weights, x[r], kGroup);
    }
  }
};

}  // namespace

constinit const NarrowKernels kNeonDotInt8 = {"neon_dotprod", Target::kNeonDotProduct,
                                              &ConvertToInt8<0>, &MultiplyInt8<DotTiles>};

}  // namespace millrace::kernels
