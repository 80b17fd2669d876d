#include <immintrin.h>

#define MILLRACE_VECTOR_BYTES 32
#include "models/kernels/narrow_kernels.inl"
#include "models/kernels/widening_kernels.inl"

namespace millrace::kernels {
namespace {

constexpr int kTileRows = 4;  // times two vectors of sums, with their factors, fill the registers

// Computes kRows rows times half a panel. VPMADDUBSW takes one factor without its sign, which the
// other factor gets: pairs of products of numbers up to 127 do not saturate. The magnitudes are
// those of the weights, which serve all rows. ahead: null, or what comes next, which is prefetched
// meanwhile.
template <int kRows>
void Int8Tile(const NarrowProduct& p, int64_t row, int64_t column, const unsigned char* ahead) {
  const __m256i ones = _mm256_set1_epi16(1);
  const unsigned char* a = p.a + row * p.depth;
  const unsigned char* block = p.panels + NarrowOffset(column, 0, p.depth);
  __m256i sums[kRows][kHalfVectors] = {};
  for (int64_t at = 0; at < p.depth; at += kBlockDepth, block += kBlockDepth * kNarrowPanel) {
    for (int64_t line = 0; line < kBlockDepth / kGroupBytes; ++line) {
      __m256i weights[kHalfVectors];
      __m256i magnitudes[kHalfVectors];
#pragma GCC unroll 2
      for (int64_t v = 0; v < kHalfVectors; ++v) {
        weights[v] =
            _mm256_load_si256(reinterpret_cast<const __m256i*>(block + line * kLineBytes) + v);
        magnitudes[v] = _mm256_abs_epi8(weights[v]);
      }
      if (ahead != nullptr) {
        _mm_prefetch(ahead, _MM_HINT_T1);
        ahead += kLineBytes;
      }
#pragma GCC unroll 4
      for (int r = 0; r < kRows; ++r) {
        int32_t group;
        __builtin_memcpy(&group, a + r * p.depth + at + line * kGroupBytes, sizeof(group));
        const __m256i x = _mm256_set1_epi32(group);
#pragma GCC unroll 2
        for (int64_t v = 0; v < kHalfVectors; ++v) {
          const __m256i pairs =
              _mm256_maddubs_epi16(magnitudes[v], _mm256_sign_epi8(x, weights[v]));
          sums[r][v] = _mm256_add_epi32(sums[r][v], _mm256_madd_epi16(pairs, ones));
        }
      }
    }
  }
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) {
    Ints vectors[kHalfVectors];
    __builtin_memcpy(vectors, sums[r], sizeof(vectors));
    FinishInt8(p, row + r, column, vectors);
  }
}

template <int kRows>
void Int8TileOf(const NarrowProduct& p, int64_t rows, int64_t row, int64_t column,
                const unsigned char* ahead) {
  if constexpr (kRows == 1) {
    Int8Tile<1>(p, row, column, ahead);
  } else if (rows == kRows) {
    Int8Tile<kRows>(p, row, column, ahead);
  } else {
    Int8TileOf<kRows - 1>(p, rows, row, column, ahead);
  }
}

void MultiplyInt8(const NarrowProduct& p) {
  // Tiles have about equal heights, so that the last one does not have a single row.
  const int64_t tiles = (p.rows + kTileRows - 1) / kTileRows;
  for (int64_t column = 0; column < p.outputs; column += kNarrowHalf) {
    // The first tile of each half of a panel prefetches as much of the next panel.
    const int64_t panel = column / kNarrowPanel * kNarrowPanel;
    const bool more = panel + kNarrowPanel < p.outputs;
    const unsigned char* const next =
        p.panels + (panel + kNarrowPanel + column % kNarrowPanel) * p.depth;
    for (int64_t tile = 0; tile < tiles; ++tile) {
      const int64_t row = tile * p.rows / tiles;
      Int8TileOf<kTileRows>(p, (tile + 1) * p.rows / tiles - row, row, column,
                            more && tile == 0 ? next : nullptr);
    }
  }
}

}  // namespace

constinit const NarrowKernels kAvx2Int8 = {"avx2", Target::kAvx2, &ConvertToInt8<0>, &MultiplyInt8};
constinit const NarrowKernels kAvx2Bfloat = {"avx2", Target::kAvx2, &ConvertToBfloat,
                                             &MultiplyWidened};

}  // namespace millrace::kernels
