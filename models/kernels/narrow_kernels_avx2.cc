#include <immintrin.h>

#define MILLRACE_VECTOR_BYTES 32
#include "models/kernels/narrow_kernels.inl"
#include "models/kernels/narrow_tiles.inl"
#include "models/kernels/widening_kernels.inl"

namespace millrace::kernels {
namespace {

// VPMADDUBSW takes one factor without its sign, which the other factor gets: pairs of products of
// numbers up to 127 do not saturate. The magnitudes are those of the weights, which serve all rows.
struct SignedDot {
  static constexpr int kTileRows = 4;
  struct Weights {
    __m256i numbers;
    __m256i magnitudes;
  };

  static Weights Prepare(__m256i weights) { return {weights, _mm256_abs_epi8(weights)}; }
  static __m256i Start(const NarrowProduct& /*p*/, int64_t /*column*/) {
    return _mm256_setzero_si256();
  }
  static __m256i Add(__m256i sums, __m256i x, const Weights& weights) {
    const __m256i pairs =
        _mm256_maddubs_epi16(weights.magnitudes, _mm256_sign_epi8(x, weights.numbers));
    return _mm256_add_epi32(sums, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
  }
};

}  // namespace

constinit const NarrowKernels kAvx2Int8 = {"avx2", Target::kAvx2, &ConvertToInt8<0>,
                                           &MultiplyInt8<SignedDot>};
constinit const NarrowKernels kAvx2Bfloat = {"avx2", Target::kAvx2, &ConvertToBfloat,
                                             &MultiplyWidened};

}  // namespace millrace::kernels
