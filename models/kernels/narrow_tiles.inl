// The loops of int8 products that the sets with vectors of 256 bits share: tiles of rows times half
// a panel. Included after narrow_kernels.inl. `Dot` says how numbers are multiplied:
//   kTileRows: rows of a tile, so that its sums and factors fill the 16 registers
//   kBlockRows: rows for which a Dot is made
//   kLines: lines of weights between two branches; few, where temporaries need registers
//   Dot(product, row, rows, column): made for so many rows from `row` on and half a panel
//   Start(row, v): the sums of a row of the block and a vector of columns before the first group
//   Add(sums, x, weights): adds the products of eight groups of weights with a row's group, which x
//     repeats

#include <immintrin.h>

namespace millrace::kernels {
namespace {

// Computes kRows rows times half a panel, from row `first` of the block on. ahead: null, or what
// comes next, which is prefetched meanwhile.
template <typename Dot, int kRows>
void Int8Tile(const Dot& dot, const NarrowProduct& p, int64_t block_row, int64_t first,
              int64_t column, const unsigned char* ahead) {
  const int64_t row = block_row + first;
  const unsigned char* a = p.a + row * p.depth;
  const unsigned char* block = p.panels + NarrowOffset(column, 0, ColumnBytes(p));
  // The rows between those whose addresses are kept.
  constexpr int kApart = Dot::kLines > 1 ? 3 : kRows;
  constexpr int kKept = (kRows + kApart - 1) / kApart;
  __m256i sums[kRows][kHalfVectors];
#pragma GCC unroll 6
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
    for (int64_t v = 0; v < kHalfVectors; ++v) sums[r][v] = dot.Start(first + r, v);
  }
  for (int64_t tap = 0; tap < p.taps; ++tap, a += p.dilation * p.depth) {
    for (int64_t at = 0; at < p.depth; at += kBlockDepth, block += kBlockDepth * kNarrowPanel) {
      const unsigned char* kept[kKept];
#pragma GCC unroll 2
      for (int i = 0; i < kKept; ++i) kept[i] = a + kApart * i * p.depth + at;
      for (int64_t line = 0; line < kBlockDepth / kGroupBytes; line += Dot::kLines) {
        if (ahead != nullptr) {
#pragma GCC unroll 4
          for (int i = 0; i < Dot::kLines; ++i, ahead += kLineBytes)
            _mm_prefetch(ahead, _MM_HINT_T1);
        }
        // Otherwise the compiler would keep those of all rows.
#pragma GCC unroll 2
        for (int i = 0; i < kKept; ++i) asm("" : "+r"(kept[i]));
#pragma GCC unroll 4
        for (int l = 0; l < Dot::kLines; ++l) {
          const auto* weights = reinterpret_cast<const __m256i*>(block + (line + l) * kLineBytes);
#pragma GCC unroll 6
          for (int r = 0; r < kRows; ++r) {
            int32_t group;
            __builtin_memcpy(&group, kept[r / kApart] + r % kApart * p.depth + l * kGroupBytes,
                             sizeof(group));
            const __m256i x = _mm256_set1_epi32(group);
#pragma GCC unroll 2
            for (int64_t v = 0; v < kHalfVectors; ++v)
              sums[r][v] = Dot::Add(sums[r][v], x, weights[v]);
          }
        }
#pragma GCC unroll 2
        for (int i = 0; i < kKept; ++i) kept[i] += Dot::kLines * kGroupBytes;
      }
    }
  }
  FinishInt8(p, row, column, sums);
}

template <typename Dot, int kRows>
void Int8TileOf(const Dot& dot, const NarrowProduct& p, int64_t rows, int64_t block_row,
                int64_t first, int64_t column, const unsigned char* ahead) {
  if constexpr (kRows == 1) {
    Int8Tile<Dot, 1>(dot, p, block_row, first, column, ahead);
  } else if (rows == kRows) {
    Int8Tile<Dot, kRows>(dot, p, block_row, first, column, ahead);
  } else {
    Int8TileOf<Dot, kRows - 1>(dot, p, rows, block_row, first, column, ahead);
  }
}

template <typename Dot>
void MultiplyInt8(const NarrowProduct& p) {
  for (int64_t column = 0; column < p.outputs; column += kNarrowHalf) {
    // The first tile of each half of a panel prefetches as much of the next panel.
    const int64_t panel = column / kNarrowPanel * kNarrowPanel;
    const unsigned char* ahead = nullptr;
    if (panel + kNarrowPanel < p.outputs)
      ahead = p.panels + (panel + kNarrowPanel + column % kNarrowPanel) * ColumnBytes(p);
    for (int64_t block = 0; block < p.rows; block += Dot::kBlockRows) {
      const int64_t rows = p.rows - block < Dot::kBlockRows ? p.rows - block : Dot::kBlockRows;
      const Dot dot(p, block, rows, column);
      // Tiles have about equal heights, so that the last one does not have a single row.
      const int64_t tiles = (rows + Dot::kTileRows - 1) / Dot::kTileRows;
      for (int64_t tile = 0; tile < tiles; ++tile) {
        const int64_t first = tile * rows / tiles;
        Int8TileOf<Dot, Dot::kTileRows>(dot, p, (tile + 1) * rows / tiles - first, block, first,
                                        column, ahead);
        ahead = nullptr;
      }
    }
  }
}

}  // namespace
}  // namespace millrace::kernels
