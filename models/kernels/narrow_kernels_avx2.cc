#include <immintrin.h>

#define MILLRACE_VECTOR_BYTES 32
#include "models/kernels/narrow_kernels.inl"
#include "models/kernels/widening_kernels.inl"

namespace millrace::kernels {
namespace {

// Computes kRows rows times half a panel. VPMADDUBSW takes one factor without its sign, which the
// other factor gets: pairs of products of numbers up to 127 do not saturate.
template <int kRows>
void Int8Tile(const NarrowProduct& p, int64_t row, int64_t column) {
  const __m256i ones = _mm256_set1_epi16(1);
  __m256i sums[kRows][kHalfVectors] = {};
  for (int64_t at = 0; at < p.depth; at += kGroupBytes) {
    const auto* line =
        reinterpret_cast<const __m256i*>(p.panels + NarrowOffset(column, at, p.depth));
    __m256i weights[kHalfVectors];
    for (int64_t v = 0; v < kHalfVectors; ++v) weights[v] = _mm256_load_si256(line + v);
    for (int r = 0; r < kRows; ++r) {
      int32_t group;
      __builtin_memcpy(&group, p.a + (row + r) * p.depth + at, sizeof(group));
      const __m256i x = _mm256_set1_epi32(group);
      const __m256i magnitude = _mm256_abs_epi8(x);
      for (int64_t v = 0; v < kHalfVectors; ++v) {
        const __m256i pairs = _mm256_maddubs_epi16(magnitude, _mm256_sign_epi8(weights[v], x));
        sums[r][v] = _mm256_add_epi32(sums[r][v], _mm256_madd_epi16(pairs, ones));
      }
    }
  }
  for (int r = 0; r < kRows; ++r) {
    Ints vectors[kHalfVectors];
    __builtin_memcpy(vectors, sums[r], sizeof(vectors));
    FinishInt8(p, row + r, column, vectors);
  }
}

void MultiplyInt8(const NarrowProduct& p) {
  constexpr int kRows = 4;
  for (int64_t column = 0; column < p.outputs; column += kNarrowHalf) {
    int64_t row = 0;
    for (; row + kRows <= p.rows; row += kRows) Int8Tile<kRows>(p, row, column);
    for (; row < p.rows; ++row) Int8Tile<1>(p, row, column);
  }
}

}  // namespace

constinit const NarrowKernels kAvx2Int8 = {"avx2", Target::kAvx2, &ConvertToInt8<0>, &MultiplyInt8};
constinit const NarrowKernels kAvx2Bfloat = {"avx2", Target::kAvx2, &ConvertToBfloat,
                                             &MultiplyWidened};

}  // namespace millrace::kernels
