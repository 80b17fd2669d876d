// The loops of int8 products that the sets with vectors of 256 bits share: tiles of rows times half
// a panel. Included after narrow_kernels.inl. `Dot` says how numbers are multiplied:
//   kTileRows: rows of a tile, so that its sums and factors fill the 16 registers
//   Weights: eight groups of weights, ready for Add
//   Prepare(weights): makes them from a line's numbers
//   Start(product, column): the sums of the eight columns from `column` on before the first group
//   Add(sums, x, weights): adds the products with a row's group, which x repeats

#include <immintrin.h>

namespace millrace::kernels {
namespace {

// Computes kRows rows times half a panel. ahead: null, or what comes next, which is prefetched
// meanwhile.
template <typename Dot, int kRows>
void Int8Tile(const NarrowProduct& p, int64_t row, int64_t column, const unsigned char* ahead) {
  const unsigned char* a = p.a + row * p.depth;
  const unsigned char* block = p.panels + NarrowOffset(column, 0, p.depth);
  __m256i sums[kRows][kHalfVectors];
#pragma GCC unroll 6
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
    for (int64_t v = 0; v < kHalfVectors; ++v) sums[r][v] = Dot::Start(p, column + v * kLanes);
  }
  for (int64_t at = 0; at < p.depth; at += kBlockDepth, block += kBlockDepth * kNarrowPanel) {
    for (int64_t line = 0; line < kBlockDepth / kGroupBytes; ++line) {
      typename Dot::Weights weights[kHalfVectors];
#pragma GCC unroll 2
      for (int64_t v = 0; v < kHalfVectors; ++v) {
        weights[v] = Dot::Prepare(
            _mm256_load_si256(reinterpret_cast<const __m256i*>(block + line * kLineBytes) + v));
      }
      if (ahead != nullptr) {
        _mm_prefetch(ahead, _MM_HINT_T1);
        ahead += kLineBytes;
      }
#pragma GCC unroll 6
      for (int r = 0; r < kRows; ++r) {
        int32_t group;
        __builtin_memcpy(&group, a + r * p.depth + at + line * kGroupBytes, sizeof(group));
        const __m256i x = _mm256_set1_epi32(group);
#pragma GCC unroll 2
        for (int64_t v = 0; v < kHalfVectors; ++v) sums[r][v] = Dot::Add(sums[r][v], x, weights[v]);
      }
    }
  }
#pragma GCC unroll 6
  for (int r = 0; r < kRows; ++r) {
    Ints vectors[kHalfVectors];
    __builtin_memcpy(vectors, sums[r], sizeof(vectors));
    FinishInt8(p, row + r, column, vectors);
  }
}

template <typename Dot, int kRows>
void Int8TileOf(const NarrowProduct& p, int64_t rows, int64_t row, int64_t column,
                const unsigned char* ahead) {
  if constexpr (kRows == 1) {
    Int8Tile<Dot, 1>(p, row, column, ahead);
  } else if (rows == kRows) {
    Int8Tile<Dot, kRows>(p, row, column, ahead);
  } else {
    Int8TileOf<Dot, kRows - 1>(p, rows, row, column, ahead);
  }
}

template <typename Dot>
void MultiplyInt8(const NarrowProduct& p) {
  // Tiles have about equal heights, so that the last one does not have a single row.
  const int64_t tiles = (p.rows + Dot::kTileRows - 1) / Dot::kTileRows;
  for (int64_t column = 0; column < p.outputs; column += kNarrowHalf) {
    // The first tile of each half of a panel prefetches as much of the next panel.
    const int64_t panel = column / kNarrowPanel * kNarrowPanel;
    const bool more = panel + kNarrowPanel < p.outputs;
    const unsigned char* const next =
        p.panels + (panel + kNarrowPanel + column % kNarrowPanel) * p.depth;
    for (int64_t tile = 0; tile < tiles; ++tile) {
      const int64_t row = tile * p.rows / tiles;
      Int8TileOf<Dot, Dot::kTileRows>(p, (tile + 1) * p.rows / tiles - row, row, column,
                                      more && tile == 0 ? next : nullptr);
    }
  }
}

}  // namespace
}  // namespace millrace::kernels
