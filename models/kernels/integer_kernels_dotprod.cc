#define MILLRACE_VECTOR_BYTES 16
#include "models/kernels/integer_kernels.inl"
#include "models/kernels/integer_neon.inl"

namespace millrace::kernels {
namespace {

// Layout of activations: the high bytes of 16 of them (see integer_neon.inl), then their low bytes,
// then the next 16.
constexpr int64_t kTogether = 16;

void Quantise(const float* x, int64_t rows, const Activations& out) {
  for (int64_t row = 0; row < rows; ++row, x += out.inputs) {
    const RowScale scale = ScaleOf(x, out.inputs);
    out.scales[row] = scale.scale;
    auto* bytes = reinterpret_cast<int8_t*>(out.values) + row * 2 * out.inputs;
    const float32x4_t inverse = vdupq_n_f32(scale.inverse);
    for (int64_t i = 0; i < out.inputs; i += kTogether, bytes += 2 * kTogether) {
      const SplitBytes first = Split(Round(x + i, inverse));
      const SplitBytes second = Split(Round(x + i + 8, inverse));
      vst1q_s8(bytes, vcombine_s8(first.high, second.high));
      vst1q_s8(bytes + kTogether, vcombine_s8(first.low, second.low));
    }
  }
}

// SDOT adds the four products of a group to the sum of its column.
struct DotTiles {
  static constexpr int kMostRows = 4;

  template <int kRows>
  static void Compute(const Activations& a, int64_t row, const PackedView& m, int64_t panel,
                      bool relu, float* out) {
    // Up to 16 vectors of sums, with their factors, fill the registers.
    constexpr int kVectors = kRows <= 2 ? 4 : 2;
    for (int64_t part = 0; part < kPanel; part += 4 * kVectors)
      Columns<kRows, kVectors>(a, row, m, panel * kPanel + part, relu, out);
  }

 private:
  template <int kRows, int kVectors>
  struct Sums {
    int32x4_t high[kRows][kVectors] = {};
    int32x4_t low[kRows][kVectors] = {};
  };

  template <int kRows>
  struct Bytes {
    int8x16_t high[kRows];
    int8x16_t low[kRows];
  };

  template <int kRows, int kVectors>
  static void Columns(const Activations& a, int64_t row, const PackedView& m, int64_t column,
                      bool relu, float* out) {
    const int64_t inputs = m.inputs;
    const int64_t stride = 2 * inputs;
    const auto* activation = reinterpret_cast<const int8_t*>(a.values) + row * stride;
    const int8_t* weights = m.values + column / kPanel * kPanel * inputs + column % kPanel * kGroup;
    Sums<kRows, kVectors> sums;
    for (int64_t k = 0; k < inputs; k += kTogether) {
      Bytes<kRows> x;
#pragma GCC unroll 4
      for (int r = 0; r < kRows; ++r) {
        x.high[r] = vld1q_s8(activation + r * stride + 2 * k);
        x.low[r] = vld1q_s8(activation + r * stride + 2 * k + kTogether);
      }
      const int8_t* groups = weights + k * kPanel;
      AddGroup<0>(groups, x, sums);
      AddGroup<1>(groups + kGroup * kPanel, x, sums);
      AddGroup<2>(groups + 2 * kGroup * kPanel, x, sums);
      AddGroup<3>(groups + 3 * kGroup * kPanel, x, sums);
    }
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v)
        StoreSums(sums.high[r][v], sums.low[r][v], a, row + r, m, column + 4 * v, relu, out);
    }
  }

  template <int kIndex, int kRows, int kVectors>
  static inline __attribute__((always_inline)) void AddGroup(const int8_t* weights,
                                                             const Bytes<kRows>& x,
                                                             Sums<kRows, kVectors>& sums) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      const int8x16_t w = vld1q_s8(weights + v * 16);
#pragma GCC unroll 4
      for (int r = 0; r < kRows; ++r) {
        sums.high[r][v] = vdotq_laneq_s32(sums.high[r][v], w, x.high[r], kIndex);
        sums.low[r][v] = vdotq_laneq_s32(sums.low[r][v], w, x.low[r], kIndex);
      }
    }
  }
};

// Adds the 4 integers of each of 4 vectors: lane i of the result is the sum of v[i].
inline int32x4_t SumEach(const int32x4_t (&v)[4]) {
  return vpaddq_s32(vpaddq_s32(v[0], v[1]), vpaddq_s32(v[2], v[3]));
}

void Logits(const LogitsArgs& a) {
  const auto* activation = reinterpret_cast<const int8_t*>(a.activation);
  for (int64_t i = 0; i < a.count; i += 4) {
    int32x4_t high[4] = {};
    int32x4_t low[4] = {};
    for (int64_t k = 0; k < a.inputs; k += kTogether) {
      const int8x16_t high_bytes = vld1q_s8(activation + 2 * k);
      const int8x16_t low_bytes = vld1q_s8(activation + 2 * k + kTogether);
#pragma GCC unroll 4
      for (int r = 0; r < 4; ++r) {
        const int8x16_t w = vld1q_s8(a.matrix + a.rows[i + r] * a.inputs + k);
        high[r] = vdotq_s32(high[r], w, high_bytes);
        low[r] = vdotq_s32(low[r], w, low_bytes);
      }
    }
    StoreLogits(SumEach(high), SumEach(low), a, i);
  }
}

}  // namespace

const IntegerKernels kNeonDotInteger = {"neon_dotprod", Target::kNeonDotProduct,
                                        Quantise,       Multiply<DotTiles>,
                                        Logits,         Attend,
                                        AddNorm,        Ssru};

}  // namespace millrace::kernels
