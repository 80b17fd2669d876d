// The parts that the sets with AVX-512 and VNNI share. Each of their files includes it once, after
// integer_kernels.inl, because it is compiled with their flags.
//
// VPDPBUSD multiplies unsigned by signed bytes. An activation q, 16-bit signed, is split into two
// unsigned bytes, q + 32768 = 256 * high + low. So sum(q w) = 256 * (sum(high w) - 128 sum(w)) +
// sum(low w).

#include <immintrin.h>

namespace millrace::kernels {
namespace {

struct SplitBytes {
  __m512i high;
  __m512i low;
};

struct QuantisedBytes {
  __m128i high;
  __m128i low;
};

// Quantises 16 activations.
inline QuantisedBytes QuantiseBytes(const float* x, __m512 inverse) {
  const __m512i q = _mm512_cvtps_epi32(_mm512_mul_ps(_mm512_loadu_ps(x), inverse));
  const __m512i top = _mm512_add_epi32(_mm512_srai_epi32(q, 8), _mm512_set1_epi32(128));
  return {_mm512_cvtepi32_epi8(top), _mm512_cvtepi32_epi8(q)};
}

// Stores 16 columns of a row from the sums of its high bytes, minus their correction, and of its
// low bytes.
inline void StoreSums(__m512i high, __m512i low, const Activations& a, int64_t row,
                      const PackedView& m, int64_t column, bool relu, float* out) {
  const __m512 sum =
      _mm512_fmadd_ps(_mm512_cvtepi32_ps(high), _mm512_set1_ps(256.0F), _mm512_cvtepi32_ps(low));
  const __m512 both =
      _mm512_mul_ps(_mm512_loadu_ps(m.scales + column), _mm512_set1_ps(a.scales[row]));
  __m512 result = _mm512_fmadd_ps(sum, both, _mm512_loadu_ps(m.bias + column));
  if (relu) result = _mm512_max_ps(result, _mm512_setzero_ps());
  _mm512_storeu_ps(out + row * m.out_stride + column, result);
}

// Works in place, unlike the intrinsic, with which GCC 12 copies the sum before and spills it
// after.
inline void MultiplyAdd(__m512i& sum, __m512i activations, __m512i weights) {
  asm("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(activations), "v"(weights));
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

template <SplitBytes (*kSplit)(const uint8_t*), int kChunks>
void LogitsOf(const LogitsArgs& a) {
  SplitBytes bytes[kChunks];
  for (int c = 0; c < kChunks; ++c) bytes[c] = kSplit(a.activation + 128 * c);
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
        MultiplyAdd(top, bytes[c].high, w);
        MultiplyAdd(bottom, bytes[c].low, w);
      }
      // This may wrap around; the sum fits again once the correction is subtracted.
      sums[r] = _mm512_add_epi32(_mm512_slli_epi32(top, 8), bottom);
    }
    const __m512i correction = _mm512_slli_epi32(_mm512_loadu_si512(a.corrections + i), 8);
    const __m512 sum = _mm512_cvtepi32_ps(_mm512_sub_epi32(SumEach(sums), correction));
    _mm512_storeu_ps(a.out + i, _mm512_fmadd_ps(sum, scale, _mm512_loadu_ps(a.bias + i)));
  }
}

// kSplit: returns the high and the low bytes of 64 activations.
template <SplitBytes (*kSplit)(const uint8_t*)>
void Logits(const LogitsArgs& a) {
  switch (a.inputs / 64) {
    case 1:
      return LogitsOf<kSplit, 1>(a);
    case 2:
      return LogitsOf<kSplit, 2>(a);
    case 3:
      return LogitsOf<kSplit, 3>(a);
    case 4:
      return LogitsOf<kSplit, 4>(a);
    case 5:
      return LogitsOf<kSplit, 5>(a);
    case 6:
      return LogitsOf<kSplit, 6>(a);
    case 7:
      return LogitsOf<kSplit, 7>(a);
    case 8:
      return LogitsOf<kSplit, 8>(a);
    default:
      __builtin_trap();
  }
}

}  // namespace
}  // namespace millrace::kernels
