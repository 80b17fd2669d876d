#include <immintrin.h>

#define MILLRACE_VECTOR_BYTES 32
#include "models/kernels/integer_kernels.inl"

namespace millrace::kernels {
namespace {

// VPMADDWD multiplies 16-bit integers and adds pairs: activations stay 16-bit, and weights are
// widened when they are read. VPMADDUBSW would be wider, but it saturates.

void Quantise(const float* x, int64_t rows, const Activations& out) {
  for (int64_t row = 0; row < rows; ++row, x += out.inputs) {
    const RowScale scale = ScaleOf(x, out.inputs);
    out.scales[row] = scale.scale;
    auto* q = reinterpret_cast<int16_t*>(out.values) + row * out.inputs;
    const __m256 inverse = _mm256_set1_ps(scale.inverse);
    for (int64_t i = 0; i < out.inputs; i += 16) {
      const __m256i a = _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_loadu_ps(x + i), inverse));
      const __m256i b = _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_loadu_ps(x + i + 8), inverse));
      const __m256i packed = _mm256_permute4x64_epi64(_mm256_packs_epi32(a, b), 0xD8);
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(q + i), packed);
    }
  }
}

inline __m256i Widen(const int8_t* p) {
  return _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
}

inline __m256i BroadcastGroup(const int16_t* p) {
  int64_t group;
  __builtin_memcpy(&group, p, sizeof(group));
  return _mm256_set1_epi64x(group);
}

// Returns the sums of neighbouring lanes of a and b, in order.
inline __m256i AddNeighbours(__m256i a, __m256i b) {
  return _mm256_permute4x64_epi64(_mm256_hadd_epi32(a, b), 0xD8);
}

constexpr int kQuarters = 4;  // of a panel, because four columns fill a vector

template <int kRows>
inline void Tile(const Activations& a, int64_t row, const PackedView& m, int64_t panel, bool relu,
                 float* out) {
  const int64_t inputs = m.inputs;
  const int16_t* activation = reinterpret_cast<const int16_t*>(a.values) + row * inputs;
  const int8_t* weights = m.values + panel * kPanel * inputs;
  __m256 total[kRows][2] = {};
  for (int64_t begin = 0; begin < inputs; begin += kMaxExactSum) {
    const int64_t end = begin + kMaxExactSum < inputs ? begin + kMaxExactSum : inputs;
    __m256i sums[kRows][kQuarters] = {};
    for (int64_t k = begin; k < end; k += kGroup) {
      __m256i q[kRows];
#pragma GCC unroll 4
      for (int r = 0; r < kRows; ++r) q[r] = BroadcastGroup(activation + r * inputs + k);
#pragma GCC unroll 4
      for (int i = 0; i < kQuarters; ++i) {
        const __m256i w = Widen(weights + k * kPanel + i * 16);
#pragma GCC unroll 4
        for (int r = 0; r < kRows; ++r) {
          sums[r][i] = _mm256_add_epi32(sums[r][i], _mm256_madd_epi16(w, q[r]));
        }
      }
    }
    for (int r = 0; r < kRows; ++r) {
      for (int half = 0; half < 2; ++half) {
        const __m256i sum = AddNeighbours(sums[r][2 * half], sums[r][2 * half + 1]);
        total[r][half] = _mm256_add_ps(total[r][half], _mm256_cvtepi32_ps(sum));
      }
    }
  }
  for (int r = 0; r < kRows; ++r) {
    const __m256 row_scale = _mm256_set1_ps(a.scales[row + r]);
    for (int half = 0; half < 2; ++half) {
      const int64_t column = panel * kPanel + half * 8;
      const __m256 scale = _mm256_mul_ps(row_scale, _mm256_loadu_ps(m.scales + column));
      __m256 result = _mm256_fmadd_ps(total[r][half], scale, _mm256_loadu_ps(m.bias + column));
      if (relu) result = _mm256_max_ps(result, _mm256_setzero_ps());
      _mm256_storeu_ps(out + (row + r) * m.out_stride + column, result);
    }
  }
}

void Multiply(const Activations& a, int64_t rows, const PackedView& m, bool relu, float* out) {
  const int64_t panels = m.outputs / kPanel;
  for (int64_t block = 0; block < panels; block += kPanelsPerBlock) {
    for (int64_t row = 0; row < rows;) {
      const int64_t left = rows - row;
      for (int64_t panel = block; panel < block + kPanelsPerBlock; ++panel) {
        if (left == 1) {
          Tile<1>(a, row, m, panel, relu, out);
        } else {
          Tile<2>(a, row, m, panel, relu, out);
        }
      }
      row += left == 1 ? 1 : 2;
    }
  }
}

void Logits(const LogitsArgs& a) {
  const auto* q = reinterpret_cast<const int16_t*>(a.activation);
  for (int64_t i = 0; i < a.count; ++i) {
    const int8_t* row = a.matrix + a.rows[i] * a.inputs;
    __m256i sums[2] = {};
    for (int64_t k = 0; k < a.inputs; k += 32) {
      for (int half = 0; half < 2; ++half) {
        const int64_t at = k + half * 16;
        const __m256i x = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(q + at));
        sums[half] = _mm256_add_epi32(sums[half], _mm256_madd_epi16(Widen(row + at), x));
      }
    }
    int32_t lanes[8];
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(lanes), _mm256_add_epi32(sums[0], sums[1]));
    const int32_t sum = ((lanes[0] + lanes[4]) + (lanes[1] + lanes[5])) +
                        ((lanes[2] + lanes[6]) + (lanes[3] + lanes[7]));
    a.out[i] = static_cast<float>(sum) * a.scale + a.bias[i];
  }
}

}  // namespace

const IntegerKernels kAvx2Integer = {"avx2", Target::kAvx2, Quantise, Multiply,
                                     Logits, Attend,        AddNorm,  Ssru};

}  // namespace millrace::kernels
