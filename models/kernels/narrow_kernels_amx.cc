// Products on the matrix unit of newer Xeons (AMX): a block of half a panel is one of its tiles.

#include <immintrin.h>

#define MILLRACE_VECTOR_BYTES 64
#include "models/kernels/narrow_kernels.inl"
#include "models/kernels/tile_shapes.h"

namespace millrace::kernels {
namespace {

constexpr int64_t kTileRows = 16;
constexpr int64_t kTileBytes = kBlockDepth * kNarrowHalf;
constexpr int64_t kSumBytes = 4;
constexpr int64_t kTaskRows = 2 * kTileRows;  // computed together

// Configures for 1 to kTaskRows rows. Registers 0 to 3 are the sums of the upper and the lower rows
// with the two halves; 4 and 5 hold the upper and the lower rows, 6 and 7 weights.
void Configure(int64_t rows) {
  constexpr unsigned short kBytes = kBlockDepth;
  const auto up = static_cast<unsigned char>(rows < kTileRows ? rows : kTileRows);
  // Without lower rows their registers are not used, but no register may have zero rows.
  const auto low = static_cast<unsigned char>(rows > kTileRows ? rows - kTileRows : kTileRows);
  const TileShapes shapes = {
      .row_bytes = {kBytes, kBytes, kBytes, kBytes, kBytes, kBytes, kBytes, kBytes},
      .rows = {up, up, low, low, up, low, kTileRows, kTileRows}};
  __asm__ volatile("" ::"r"(&shapes) : "memory");  // the compiler knows only of its first bytes
  _tile_loadconfig(&shapes);
}

template <bool kInt8>
inline void MultiplyUpper() {
  if constexpr (kInt8) {
    _tile_dpbssd(0, 4, 6);
    _tile_dpbssd(1, 4, 7);
  } else {
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
  }
}

template <bool kInt8>
inline void MultiplyLower() {
  if constexpr (kInt8) {
    _tile_dpbssd(2, 5, 6);
    _tile_dpbssd(3, 5, 7);
  } else {
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
}

// Multiplies up to 32 rows by a panel; writes rows of kNarrowPanel sums. ahead: null, or what comes
// next, which is prefetched meanwhile.
template <bool kInt8, bool kBoth>
inline void SumTiles(const NarrowProduct& p, int64_t row, int64_t column,
                     const unsigned char* ahead, void* sums) {
  const unsigned char* upper = p.a + row * p.depth;
  const unsigned char* lower = upper + kTileRows * p.depth;
  const unsigned char* weights = p.panels + column * ColumnBytes(p);
  _tile_zero(0);
  _tile_zero(1);
  if constexpr (kBoth) {
    _tile_zero(2);
    _tile_zero(3);
  }
  const int64_t tap_bytes = p.dilation * p.depth;
  for (int64_t tap = 0; tap < p.taps; ++tap, upper += tap_bytes, lower += tap_bytes) {
    for (int64_t at = 0; at < p.depth; at += kBlockDepth, weights += 2 * kTileBytes) {
      if (ahead != nullptr) {
#pragma GCC unroll 32
        for (int64_t i = 0; i < 2 * kTileBytes; i += kLineBytes)
          _mm_prefetch(ahead + i, _MM_HINT_T1);
        ahead += 2 * kTileBytes;
      }
      _tile_loadd(4, upper + at, p.depth);
      _tile_loadd(6, weights, kLineBytes);
      _tile_loadd(7, weights + kTileBytes, kLineBytes);
      MultiplyUpper<kInt8>();
      if constexpr (kBoth) {
        _tile_loadd(5, lower + at, p.depth);
        MultiplyLower<kInt8>();
      }
    }
  }
  constexpr int64_t kPitch = kNarrowPanel * kSumBytes;
  auto* bytes = static_cast<unsigned char*>(sums);
  _tile_stored(0, bytes, kPitch);
  _tile_stored(1, bytes + kLineBytes, kPitch);
  if constexpr (kBoth) {
    _tile_stored(2, bytes + kTileRows * kPitch, kPitch);
    _tile_stored(3, bytes + kTileRows * kPitch + kLineBytes, kPitch);
  }
}

// Finishes kRows rows of a panel.
template <bool kInt8, int kRows>
inline void Finish(const NarrowProduct& p, int64_t row, int64_t column, const unsigned char* sums) {
  if constexpr (kInt8) {
    Ints ints[kRows][kNarrowPanel / kLanes];
    __builtin_memcpy(ints, sums, sizeof(ints));
    FinishInt8(p, row, column, ints);
  } else {
    for (int64_t i = 0; i < kRows * kNarrowPanel; i += kLanes) {
      Floats floats;
      __builtin_memcpy(&floats, sums + i * kSumBytes, sizeof(floats));
      const int64_t of_panel = column + i % kNarrowPanel;
      Store(p.out + (row + i / kNarrowPanel) * p.out_stride + of_panel,
            floats + Load(p.bias + of_panel));
    }
  }
}

template <bool kInt8>
void MultiplyRows(const NarrowProduct& p, int64_t row, int64_t rows, int64_t column,
                  const unsigned char* ahead) {
  alignas(64) unsigned char sums[kTaskRows * kNarrowPanel * kSumBytes];
  if (rows > kTileRows) {
    SumTiles<kInt8, true>(p, row, column, ahead, sums);
  } else {
    SumTiles<kInt8, false>(p, row, column, ahead, sums);
  }
  __asm__ volatile("" ::: "memory");  // stores of tiles do not tell the compiler what they write
  constexpr int kTogether = 8;
  constexpr int64_t kRowBytes = kNarrowPanel * kSumBytes;
  int64_t i = 0;
  for (; i + kTogether <= rows; i += kTogether)
    Finish<kInt8, kTogether>(p, row + i, column, sums + i * kRowBytes);
  for (; i < rows; ++i) Finish<kInt8, 1>(p, row + i, column, sums + i * kRowBytes);
}

template <bool kInt8>
void Multiply(const NarrowProduct& p) {
  __asm__ volatile("" ::: "memory");  // nor do loads tell what they read
  int64_t configured = 0;
  for (int64_t column = 0; column < p.outputs; column += kNarrowPanel) {
    const bool more = column + kNarrowPanel < p.outputs;
    const unsigned char* ahead =
        more ? p.panels + (column + kNarrowPanel) * ColumnBytes(p) : nullptr;
    for (int64_t row = 0; row < p.rows; row += kTaskRows, ahead = nullptr) {
      const int64_t rows = p.rows - row < kTaskRows ? p.rows - row : kTaskRows;
      if (rows != configured) Configure(rows);
      configured = rows;
      MultiplyRows<kInt8>(p, row, rows, column, ahead);
    }
  }
  _tile_release();
}

}  // namespace

constinit const NarrowKernels kAmxInt8 = {"amx_int8", Target::kAmxInt8, &ConvertToInt8<0>,
                                          &Multiply<true>};
constinit const NarrowKernels kAmxBfloat = {"amx_bf16", Target::kAmxBf16, &ConvertToBfloat,
                                            &Multiply<false>};

}  // namespace millrace::kernels
