#define MILLRACE_VECTOR_BYTES 16
#include "models/kernels/integer_kernels.inl"
#include "models/kernels/integer_neon.inl"

namespace millrace::kernels {
namespace {

// SMMLA multiplies two rows by two columns, eight bytes of each, and adds to their four sums. The
// two rows are the high and the low bytes of one row of activations.
//
// Layout of activations: the high bytes of 8 of them (see integer_neon.inl), then their low bytes,
// then the next 8.
constexpr int64_t kTogether = 8;

void Quantise(const float* x, int64_t rows, const Activations& out) {
  for (int64_t row = 0; row < rows; ++row, x += out.inputs) {
    const RowScale scale = ScaleOf(x, out.inputs);
    out.scales[row] = scale.scale;
    auto* bytes = reinterpret_cast<int8_t*>(out.values) + row * 2 * out.inputs;
    const float32x4_t inverse = vdupq_n_f32(scale.inverse);
    for (int64_t i = 0; i < out.inputs; i += kTogether) {
      const SplitBytes split = Split(Round(x + i, inverse));
      vst1q_s8(bytes + 2 * i, vcombine_s8(split.high, split.low));
    }
  }
}

// Returns the first, or the second, halves of two vectors: the sums of the high, or the low, bytes
// of four columns.
inline int32x4_t FirstHalves(int32x4_t a, int32x4_t b) {
  return vreinterpretq_s32_s64(vzip1q_s64(vreinterpretq_s64_s32(a), vreinterpretq_s64_s32(b)));
}
inline int32x4_t SecondHalves(int32x4_t a, int32x4_t b) {
  return vreinterpretq_s32_s64(vzip2q_s64(vreinterpretq_s64_s32(a), vreinterpretq_s64_s32(b)));
}

struct MatrixTiles {
  static constexpr int kMostRows = 3;  // times eight vectors of sums

  template <int kRows>
  static void Compute(const Activations& a, int64_t row, const PackedView& m, int64_t panel,
                      bool relu, float* out) {
    constexpr int kVectors = kPanel / 4;
    const int64_t inputs = m.inputs;
    const int64_t stride = 2 * inputs;
    const auto* activation = reinterpret_cast<const int8_t*>(a.values) + row * stride;
    const int8_t* weights = m.values + panel * kPanel * inputs;
    int32x4_t sums[kRows][2 * kVectors] = {};
    for (int64_t k = 0; k < inputs; k += kTogether) {
      int8x16_t x[kRows];
#pragma GCC unroll 3
      for (int r = 0; r < kRows; ++r) x[r] = vld1q_s8(activation + r * stride + 2 * k);
      const int8_t* groups = weights + k * kPanel;
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) {
        const int32x4_t first = vreinterpretq_s32_s8(vld1q_s8(groups + v * 16));
        const int32x4_t second = vreinterpretq_s32_s8(vld1q_s8(groups + kGroup * kPanel + v * 16));
        const int8x16_t left = vreinterpretq_s8_s32(vzip1q_s32(first, second));
        const int8x16_t right = vreinterpretq_s8_s32(vzip2q_s32(first, second));
#pragma GCC unroll 3
        for (int r = 0; r < kRows; ++r) {
          sums[r][2 * v] = vmmlaq_s32(sums[r][2 * v], x[r], left);
          sums[r][2 * v + 1] = vmmlaq_s32(sums[r][2 * v + 1], x[r], right);
        }
      }
    }
#pragma GCC unroll 3
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) {
        StoreSums(FirstHalves(sums[r][2 * v], sums[r][2 * v + 1]),
                  SecondHalves(sums[r][2 * v], sums[r][2 * v + 1]), a, row + r, m,
                  panel * kPanel + 4 * v, relu, out);
      }
    }
  }
};

void Logits(const LogitsArgs& a) {
  const auto* activation = reinterpret_cast<const int8_t*>(a.activation);
  for (int64_t i = 0; i < a.count; i += 4) {
    const int8_t* rows[4];
    for (int r = 0; r < 4; ++r) rows[r] = a.matrix + a.rows[i + r] * a.inputs;
    int32x4_t sums[2] = {};
    for (int64_t k = 0; k < a.inputs; k += kTogether) {
      const int8x16_t x = vld1q_s8(activation + 2 * k);
#pragma GCC unroll 2
      for (int pair = 0; pair < 2; ++pair) {
        const int8x16_t w =
            vcombine_s8(vld1_s8(rows[2 * pair] + k), vld1_s8(rows[2 * pair + 1] + k));
        sums[pair] = vmmlaq_s32(sums[pair], x, w);
      }
    }
    StoreLogits(FirstHalves(sums[0], sums[1]), SecondHalves(sums[0], sums[1]), a, i);
  }
}

}  // namespace

const IntegerKernels kNeonMatrixInteger = {
    "neon_i8mm", Target::kNeonInt8Matrix, Quantise, Multiply<MatrixTiles>, Logits, Attend, AddNorm,
    Ssru};

}  // namespace millrace::kernels
