#include <immintrin.h>

#define MILLRACE_VECTOR_BYTES 64
#include "models/translation/kernels/vector_kernels.inl"

namespace millrace::models::kernels {
namespace {

// VPDPBUSD multiplies unsigned by signed bytes. An activation q, 16-bit signed, is split into two
// unsigned bytes, q + 32768 = 256 * high + low: the high bytes of a group of four, then its low
// ones, then the next group. So sum(q w) = 256 * (sum(high w) - 128 sum(w)) + sum(low w).

bool Supported() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512vnni");
}

void Quantise(const float* x, int64_t rows, const Activations& out) {
  for (int64_t row = 0; row < rows; ++row, x += out.inputs) {
    const RowScale scale = ScaleOf(x, out.inputs);
    out.scales[row] = scale.scale;
    auto* groups = reinterpret_cast<__m128i*>(out.values + row * 2 * out.inputs);
    const __m512 inverse = _mm512_set1_ps(scale.inverse);
    for (int64_t i = 0; i < out.inputs; i += 16) {
      const __m512i q = _mm512_cvtps_epi32(_mm512_mul_ps(_mm512_loadu_ps(x + i), inverse));
      const __m512i top = _mm512_add_epi32(_mm512_srai_epi32(q, 8), _mm512_set1_epi32(128));
      const __m128i high = _mm512_cvtepi32_epi8(top);
      const __m128i low = _mm512_cvtepi32_epi8(q);
      _mm_storeu_si128(groups++, _mm_unpacklo_epi32(high, low));
      _mm_storeu_si128(groups++, _mm_unpackhi_epi32(high, low));
    }
  }
}

// In place, which the intrinsic is not: GCC 12 copies the sum before and spills it after.
inline void MultiplyAdd(__m512i& sum, __m512i activations, __m512i weights) {
  asm("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(activations), "v"(weights));
}

inline __m512i BroadcastGroup(const uint8_t* p) {
  int32_t group;
  __builtin_memcpy(&group, p, sizeof(group));
  return _mm512_set1_epi32(group);
}

// kRows rows of activations times kPanels panels, all sums in registers.
template <int kRows, int kPanels>
inline void Tile(const Activations& a, int64_t row, const PackedView& m, int64_t panel, bool relu,
                 float* out) {
  const int64_t inputs = m.inputs;
  const int64_t stride = 2 * inputs;
  const uint8_t* activation = a.values + row * stride;
  const int8_t* weights = m.values + panel * kPanel * inputs;
  __m512i high[kRows][kPanels];
  __m512i low[kRows][kPanels];
#pragma GCC unroll 8
  for (int p = 0; p < kPanels; ++p) {
    const __m512i correction = _mm512_loadu_si512(m.corrections + (panel + p) * kPanel);
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      high[r][p] = _mm512_sub_epi32(_mm512_setzero_si512(), correction);
      low[r][p] = _mm512_setzero_si512();
    }
  }
  for (int64_t k = 0; k < inputs; k += kGroup) {
    __m512i w[kPanels];
#pragma GCC unroll 8
    for (int p = 0; p < kPanels; ++p) {
      w[p] = _mm512_load_si512(weights + p * kPanel * inputs + k * kPanel);
    }
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      const uint8_t* group = activation + (r % 3) * stride + (r / 3) * 3 * stride + 2 * k;
      const __m512i top = BroadcastGroup(group);
      const __m512i bottom = BroadcastGroup(group + kGroup);
#pragma GCC unroll 8
      for (int p = 0; p < kPanels; ++p) {
        MultiplyAdd(high[r][p], top, w[p]);
        MultiplyAdd(low[r][p], bottom, w[p]);
      }
    }
  }
#pragma GCC unroll 8
  for (int p = 0; p < kPanels; ++p) {
    const int64_t column = (panel + p) * kPanel;
    const __m512 scale = _mm512_loadu_ps(m.scales + column);
    const __m512 bias = _mm512_loadu_ps(m.bias + column);
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      const __m512 sum = _mm512_fmadd_ps(_mm512_cvtepi32_ps(high[r][p]), _mm512_set1_ps(256.0F),
                                         _mm512_cvtepi32_ps(low[r][p]));
      const __m512 both = _mm512_mul_ps(scale, _mm512_set1_ps(a.scales[row + r]));
      __m512 result = _mm512_fmadd_ps(sum, both, bias);
      if (relu) result = _mm512_max_ps(result, _mm512_setzero_ps());
      _mm512_storeu_ps(out + (row + r) * m.outputs + column, result);
    }
  }
}

template <int kRows, int kPanels>
inline void Block(const Activations& a, int64_t row, const PackedView& m, int64_t panel, bool relu,
                  float* out) {
  for (int p = 0; p < kPanelsPerBlock; p += kPanels) {
    Tile<kRows, kPanels>(a, row, m, panel + p, relu, out);
  }
}

void Multiply(const Activations& a, int64_t rows, const PackedView& m, bool relu, float* out) {
  constexpr int64_t kMaxRows = 6;
  for (int64_t panel = 0; panel < m.outputs / kPanel; panel += kPanelsPerBlock) {
    for (int64_t row = 0; row < rows;) {
      // A tail is shared by two tiles: a tile of one or two rows wastes most of its loads.
      const int64_t left = rows - row;
      const int64_t count = left <= kMaxRows      ? left
                            : left < 2 * kMaxRows ? (left + 1) / 2
                                                  : kMaxRows;
      switch (count) {
        case 1:
          Block<1, 8>(a, row, m, panel, relu, out);
          break;
        case 2:
          Block<2, 4>(a, row, m, panel, relu, out);
          break;
        case 3:
          Block<3, 4>(a, row, m, panel, relu, out);
          break;
        case 4:
          Block<4, 2>(a, row, m, panel, relu, out);
          break;
        case 5:
          Block<5, 2>(a, row, m, panel, relu, out);
          break;
        default:
          Block<6, 2>(a, row, m, panel, relu, out);
          break;
      }
      row += count;
    }
  }
}

// Adds the 16 integers of each of 16 vectors: lane i of the result is the sum of v[i].
inline __m512i SumEach(const __m512i* v) {
  __m512i four[4];
  for (int i = 0; i < 4; ++i) {
    const __m512i* q = v + 4 * i;
    const __m512i ab =
        _mm512_add_epi32(_mm512_unpacklo_epi32(q[0], q[1]), _mm512_unpackhi_epi32(q[0], q[1]));
    const __m512i cd =
        _mm512_add_epi32(_mm512_unpacklo_epi32(q[2], q[3]), _mm512_unpackhi_epi32(q[2], q[3]));
    four[i] = _mm512_add_epi32(_mm512_unpacklo_epi64(ab, cd), _mm512_unpackhi_epi64(ab, cd));
  }
  const auto halve = [](__m512i x, __m512i y) {
    return _mm512_add_epi32(_mm512_shuffle_i32x4(x, y, 0x88), _mm512_shuffle_i32x4(x, y, 0xDD));
  };
  return halve(halve(four[0], four[1]), halve(four[2], four[3]));
}

template <int kChunks>
void LogitsOf(const LogitsArgs& a) {
  // Every other group of four bytes of two vectors.
  const __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
  const __m512i odd = _mm512_add_epi32(even, _mm512_set1_epi32(1));
  __m512i high[kChunks];
  __m512i low[kChunks];
  for (int c = 0; c < kChunks; ++c) {
    const __m512i first = _mm512_loadu_si512(a.activation + 128 * c);
    const __m512i second = _mm512_loadu_si512(a.activation + 128 * c + 64);
    high[c] = _mm512_permutex2var_epi32(first, even, second);
    low[c] = _mm512_permutex2var_epi32(first, odd, second);
  }
  const __m512 scale = _mm512_set1_ps(a.scale);
  for (int64_t i = 0; i < a.count; i += kPanel) {
    __m512i sums[kPanel];
#pragma GCC unroll 16
    for (int r = 0; r < kPanel; ++r) {
      const int8_t* row = a.matrix + a.rows[i + r] * a.inputs;
      __m512i top = _mm512_setzero_si512();
      __m512i bottom = _mm512_setzero_si512();
#pragma GCC unroll 8
      for (int c = 0; c < kChunks; ++c) {
        const __m512i w = _mm512_loadu_si512(row + 64 * c);
        MultiplyAdd(top, high[c], w);
        MultiplyAdd(bottom, low[c], w);
      }
      // May wrap around; the whole sum fits again once the correction is taken off.
      sums[r] = _mm512_add_epi32(_mm512_slli_epi32(top, 8), bottom);
    }
    const __m512i correction = _mm512_slli_epi32(_mm512_loadu_si512(a.corrections + i), 8);
    const __m512 sum = _mm512_cvtepi32_ps(_mm512_sub_epi32(SumEach(sums), correction));
    _mm512_storeu_ps(a.out + i, _mm512_fmadd_ps(sum, scale, _mm512_loadu_ps(a.bias + i)));
  }
}

void Logits(const LogitsArgs& a) {
  switch (a.inputs / 64) {
    case 1:
      return LogitsOf<1>(a);
    case 2:
      return LogitsOf<2>(a);
    case 3:
      return LogitsOf<3>(a);
    case 4:
      return LogitsOf<4>(a);
    case 5:
      return LogitsOf<5>(a);
    case 6:
      return LogitsOf<6>(a);
    case 7:
      return LogitsOf<7>(a);
    case 8:
      return LogitsOf<8>(a);
    default:
      __builtin_trap();
  }
}

}  // namespace

const Kernels kAvx512Vnni = {"avx512_vnni", Supported, Quantise, Multiply,
                             Logits,        Attend,    AddNorm,  Ssru};

}  // namespace millrace::models::kernels
