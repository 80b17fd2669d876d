// The parts that the sets of the int8 engine for arm64 share. Each of their files includes it once,
// after integer_kernels.inl, because it is compiled with their flags.

#include <arm_neon.h>

namespace millrace::kernels {
namespace {

// Quantises 8 activations.
inline int16x8_t Round(const float* x, float32x4_t inverse) {
  const int32x4_t first = vcvtnq_s32_f32(vmulq_f32(vld1q_f32(x), inverse));
  const int32x4_t second = vcvtnq_s32_f32(vmulq_f32(vld1q_f32(x + 4), inverse));
  return vcombine_s16(vqmovn_s32(first), vqmovn_s32(second));
}

// An activation as two signed bytes: q = 256 * high + low + 128. So
// sum(q w) = 256 * sum(high w) + sum(low w) + 128 * sum(w).
struct SplitBytes {
  int8x8_t high;
  int8x8_t low;
};

[[maybe_unused]] inline SplitBytes Split(int16x8_t q) {
  return {vshrn_n_s16(q, 8), veor_s8(vmovn_s16(q), vdup_n_s8(-128))};
}

// Stores 4 columns of a row from the sums of its high and of its low bytes.
[[maybe_unused]] inline void StoreSums(int32x4_t high, int32x4_t low, const Activations& a,
                                       int64_t row, const PackedView& m, int64_t column, bool relu,
                                       float* out) {
  const int32x4_t rest = vaddq_s32(low, vld1q_s32(m.corrections + column));
  const float32x4_t sum = vfmaq_f32(vcvtq_f32_s32(rest), vcvtq_f32_s32(high), vdupq_n_f32(256.0F));
  const float32x4_t both = vmulq_f32(vld1q_f32(m.scales + column), vdupq_n_f32(a.scales[row]));
  float32x4_t result = vfmaq_f32(vld1q_f32(m.bias + column), sum, both);
  if (relu) result = vmaxnmq_f32(result, vdupq_n_f32(0));
  vst1q_f32(out + row * m.out_stride + column, result);
}

// Stores the logits of 4 rows of the matrix from their sums, which may have wrapped around: with
// the corrections they fit again.
[[maybe_unused]] inline void StoreLogits(int32x4_t high, int32x4_t low, const LogitsArgs& a,
                                         int64_t first) {
  const int32x4_t sum =
      vaddq_s32(vaddq_s32(vshlq_n_s32(high, 8), low), vld1q_s32(a.corrections + first));
  vst1q_f32(a.out + first, vfmaq_f32(vld1q_f32(a.bias + first), vcvtq_f32_s32(sum),
                                     vdupq_n_f32(a.scale)));
}

// Computes `rows` rows times a panel. `Tiles` has kMostRows and, for fewer or as many rows,
// Compute<rows>(activations, row, matrix, panel, relu, out).
template <typename Tiles, int kRows>
void TileOf(const Activations& a, int64_t rows, int64_t row, const PackedView& m, int64_t panel,
            bool relu, float* out) {
  if constexpr (kRows == 1) {
    Tiles::template Compute<1>(a, row, m, panel, relu, out);
  } else if (rows == kRows) {
    Tiles::template Compute<kRows>(a, row, m, panel, relu, out);
  } else {
    TileOf<Tiles, kRows - 1>(a, rows, row, m, panel, relu, out);
  }
}

template <typename Tiles>
void Multiply(const Activations& a, int64_t rows, const PackedView& m, bool relu, float* out) {
  // Tiles have about equal heights, so that the last one does not have a single row.
  const int64_t tiles = (rows + Tiles::kMostRows - 1) / Tiles::kMostRows;
  for (int64_t panel = 0; panel < m.outputs / kPanel; ++panel) {
    for (int64_t tile = 0; tile < tiles; ++tile) {
      const int64_t row = tile * rows / tiles;
      TileOf<Tiles, Tiles::kMostRows>(a, (tile + 1) * rows / tiles - row, row, m, panel, relu,
                                      out);
    }
  }
}

}  // namespace
}  // namespace millrace::kernels
