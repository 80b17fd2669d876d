// The division of rows into tiles, which the sets of int8 products for arm64 share. Each of their
// files includes it once, because it is compiled with their flags.

#include <arm_neon.h>

#define MILLRACE_VECTOR_BYTES 16
#include "models/kernels/narrow_kernels.inl"

namespace millrace::kernels {
namespace {

// Computes `rows` rows times half a panel. `Tiles` has kMostRows and, for fewer or as many rows,
// Compute<rows>(product, row, column).
template <typename Tiles, int kRows>
void TileOf(const NarrowProduct& p, int64_t rows, int64_t row, int64_t column) {
  if constexpr (kRows == 1) {
    Tiles::template Compute<1>(p, row, column);
  } else if (rows == kRows) {
    Tiles::template Compute<kRows>(p, row, column);
  } else {
    TileOf<Tiles, kRows - 1>(p, rows, row, column);
  }
}

template <typename Tiles>
void MultiplyInt8(const NarrowProduct& p) {
  // Tiles have about equal heights, so that the last one does not have a single row.
  const int64_t tiles = (p.rows + Tiles::kMostRows - 1) / Tiles::kMostRows;
  for (int64_t column = 0; column < p.outputs; column += kNarrowHalf) {
    for (int64_t tile = 0; tile < tiles; ++tile) {
      const int64_t row = tile * p.rows / tiles;
      TileOf<Tiles, Tiles::kMostRows>(p, (tile + 1) * p.rows / tiles - row, row, column);
    }
  }
}

}  // namespace
}  // namespace millrace::kernels
