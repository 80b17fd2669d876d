#define MILLRACE_VECTOR_BYTES 16
#include "models/kernels/integer_kernels.inl"
#include "models/kernels/integer_neon.inl"

namespace millrace::kernels {
namespace {

// SMLAL multiplies 16-bit integers and adds to 32-bit sums: activations stay 16-bit, and weights
// are widened when they are read.

void Quantise(const float* x, int64_t rows, const Activations& out) {
  for (int64_t row = 0; row < rows; ++row, x += out.inputs) {
    const RowScale scale = ScaleOf(x, out.inputs);
    out.scales[row] = scale.scale;
    auto* q = reinterpret_cast<int16_t*>(out.values) + row * out.inputs;
    const float32x4_t inverse = vdupq_n_f32(scale.inverse);
    for (int64_t i = 0; i < out.inputs; i += 8) vst1q_s16(q + i, Round(x + i, inverse));
  }
}

// Returns a group of activations twice.
inline int16x8_t Group(const int16_t* from) {
  int64_t group;
  __builtin_memcpy(&group, from, sizeof(group));
  return vreinterpretq_s16_s64(vdupq_n_s64(group));
}

struct NeonTiles {
  static constexpr int kMostRows = 2;  // times eight sums of a column each

  template <int kRows>
  static void Compute(const Activations& a, int64_t row, const PackedView& m, int64_t panel,
                      bool relu, float* out) {
    for (int64_t part = 0; part < kPanel; part += kColumns)
      Columns<kRows>(a, row, m, panel * kPanel + part, relu, out);
  }

 private:
  static constexpr int kColumns = 8;
  static constexpr int kVectors = kColumns / 4;

  template <int kRows>
  static void Columns(const Activations& a, int64_t row, const PackedView& m, int64_t column,
                      bool relu, float* out) {
    const int64_t inputs = m.inputs;
    const int16_t* q = reinterpret_cast<const int16_t*>(a.values) + row * inputs;
    const int8_t* weights = m.values + column / kPanel * kPanel * inputs + column % kPanel * kGroup;
    float32x4_t total[kRows][kVectors] = {};
    for (int64_t begin = 0; begin < inputs; begin += kMaxExactSum) {
      const int64_t end = begin + kMaxExactSum < inputs ? begin + kMaxExactSum : inputs;
      int32x4_t sums[kRows][kColumns] = {};
      for (int64_t k = begin; k < end; k += kGroup) {
        int16x8_t x[kRows];
#pragma GCC unroll 2
        for (int r = 0; r < kRows; ++r) x[r] = Group(q + r * inputs + k);
#pragma GCC unroll 2
        for (int v = 0; v < kVectors; ++v) {
          const int8x16_t bytes = vld1q_s8(weights + k * kPanel + v * 16);
          const int16x8_t left = vmovl_s8(vget_low_s8(bytes));
          const int16x8_t right = vmovl_high_s8(bytes);
#pragma GCC unroll 2
          for (int r = 0; r < kRows; ++r) {
            int32x4_t* four = sums[r] + 4 * v;
            four[0] = vmlal_s16(four[0], vget_low_s16(left), vget_low_s16(x[r]));
            four[1] = vmlal_high_s16(four[1], left, x[r]);
            four[2] = vmlal_s16(four[2], vget_low_s16(right), vget_low_s16(x[r]));
            four[3] = vmlal_high_s16(four[3], right, x[r]);
          }
        }
      }
#pragma GCC unroll 2
      for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
        for (int v = 0; v < kVectors; ++v) {
          const int32x4_t* four = sums[r] + 4 * v;
          const int32x4_t sum =
              vpaddq_s32(vpaddq_s32(four[0], four[1]), vpaddq_s32(four[2], four[3]));
          total[r][v] = vaddq_f32(total[r][v], vcvtq_f32_s32(sum));
        }
      }
    }
#pragma GCC unroll 2
    for (int r = 0; r < kRows; ++r) {
      const float32x4_t row_scale = vdupq_n_f32(a.scales[row + r]);
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) {
        const int64_t at = column + 4 * v;
        const float32x4_t scale = vmulq_f32(row_scale, vld1q_f32(m.scales + at));
        float32x4_t result = vfmaq_f32(vld1q_f32(m.bias + at), total[r][v], scale);
        if (relu) result = vmaxnmq_f32(result, vdupq_n_f32(0));
        vst1q_f32(out + (row + r) * m.out_stride + at, result);
      }
    }
  }
};

void Logits(const LogitsArgs& a) {
  const auto* q = reinterpret_cast<const int16_t*>(a.activation);
  for (int64_t i = 0; i < a.count; ++i) {
    const int8_t* row = a.matrix + a.rows[i] * a.inputs;
    int32x4_t sums[4] = {};
    for (int64_t k = 0; k < a.inputs; k += 16) {
      const int8x16_t bytes = vld1q_s8(row + k);
      const int16x8_t left = vmovl_s8(vget_low_s8(bytes));
      const int16x8_t right = vmovl_high_s8(bytes);
      const int16x8_t first = vld1q_s16(q + k);
      const int16x8_t second = vld1q_s16(q + k + 8);
      sums[0] = vmlal_s16(sums[0], vget_low_s16(left), vget_low_s16(first));
      sums[1] = vmlal_high_s16(sums[1], left, first);
      sums[2] = vmlal_s16(sums[2], vget_low_s16(right), vget_low_s16(second));
      sums[3] = vmlal_high_s16(sums[3], right, second);
    }
    const int32_t sum =
        vaddvq_s32(vaddq_s32(vaddq_s32(sums[0], sums[1]), vaddq_s32(sums[2], sums[3])));
    a.out[i] = static_cast<float>(sum) * a.scale + a.bias[i];
  }
}

}  // namespace

const IntegerKernels kNeonInteger = {"neon", Target::kNeon, Quantise, Multiply<NeonTiles>,
                                     Logits, Attend,        AddNorm,  Ssru};

}  // namespace millrace::kernels
