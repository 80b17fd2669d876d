#include <immintrin.h>

#define MILLRACE_VECTOR_BYTES 64
#include "models/kernels/narrow_kernels.inl"

namespace millrace::kernels {
namespace {

constexpr int64_t kHalves = kNarrowPanel / kNarrowHalf;
constexpr int64_t kTileRows = 12;  // times two vectors of sums fill the registers

// VPDPBUSD takes one unsigned factor: numbers of the rows are 128 too large, so sums exceed the
// result by 128 times the sum of the weights.
struct Int8Sums {
  static constexpr int kFlip = 0x80;
  using Sum = __m512i;

  static Sum Start(const NarrowProduct& p, int64_t column) {
    Ints sums;
    __builtin_memcpy(&sums, p.sums + column, sizeof(sums));
    return (Sum)(sums * -128);
  }
  // Works in place, unlike the intrinsic, with which GCC 12 copies the sums before and spills them
  // after.
  static void Add(Sum& sum, __m512i x, __m512i weights) {
    asm("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(x), "v"(weights));
  }
  template <int kRows>
  static inline __attribute__((always_inline)) void Finish(const NarrowProduct& p, int64_t row,
                                                           int64_t column,
                                                           const Sum (&sums)[kRows][kHalves]) {
    FinishInt8(p, row, column, sums);
  }
};

struct BfloatSums {
  using Sum = __m512;

  static Sum Start(const NarrowProduct& p, int64_t column) {
    return _mm512_loadu_ps(p.bias + column);
  }
  static void Add(Sum& sum, __m512i x, __m512i weights) {
    asm("vdpbf16ps %2, %1, %0" : "+v"(sum) : "v"(x), "v"(weights));
  }
  template <int kRows>
  static inline __attribute__((always_inline)) void Finish(const NarrowProduct& p, int64_t row,
                                                           int64_t column,
                                                           const Sum (&sums)[kRows][kHalves]) {
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
      for (int h = 0; h < kHalves; ++h)
        _mm512_storeu_ps(p.out + (row + r) * p.out_stride + column + h * kNarrowHalf, sums[r][h]);
    }
  }
};

// Computes kRows rows times a panel. ahead: null, or what comes next, which is prefetched
// meanwhile.
template <typename Sums, int kRows>
void Tile(const NarrowProduct& p, int64_t row, int64_t column, const unsigned char* ahead) {
  const unsigned char* a = p.a + row * p.depth;
  const unsigned char* block = p.panels + column * ColumnBytes(p);
  constexpr int64_t kApart = 4;  // the rows between those whose addresses are kept
  constexpr int kKept = (kRows + kApart - 1) / kApart;
  constexpr int kLines = 4;  // lines of weights between two branches
  typename Sums::Sum sums[kRows][kHalves];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
    for (int h = 0; h < kHalves; ++h) sums[r][h] = Sums::Start(p, column + h * kNarrowHalf);
  }
  for (int64_t tap = 0; tap < p.taps; ++tap, a += p.dilation * p.depth) {
    for (int64_t at = 0; at < p.depth; at += kBlockDepth, block += kBlockDepth * kNarrowPanel) {
      const unsigned char* kept[kKept];
#pragma GCC unroll 4
      for (int i = 0; i < kKept; ++i) kept[i] = a + kApart * i * p.depth + at;
      for (int64_t line = 0; line < kBlockDepth / kGroupBytes; line += kLines) {
        if (ahead != nullptr) {
#pragma GCC unroll 8
          for (int i = 0; i < kHalves * kLines; ++i, ahead += kLineBytes)
            _mm_prefetch(ahead, _MM_HINT_T1);
        }
        // Otherwise the compiler would keep those of all rows.
#pragma GCC unroll 4
        for (int i = 0; i < kKept; ++i) asm("" : "+r"(kept[i]));
#pragma GCC unroll 4
        for (int l = 0; l < kLines; ++l) {
          __m512i weights[kHalves];
#pragma GCC unroll 2
          for (int h = 0; h < kHalves; ++h)
            weights[h] =
                _mm512_load_si512(block + h * kBlockDepth * kNarrowHalf + (line + l) * kLineBytes);
#pragma GCC unroll 16
          for (int r = 0; r < kRows; ++r) {
            int32_t group;
            __builtin_memcpy(&group, kept[r / kApart] + r % kApart * p.depth + l * kGroupBytes,
                             sizeof(group));
            const __m512i x = _mm512_set1_epi32(group);
#pragma GCC unroll 2
            for (int h = 0; h < kHalves; ++h) Sums::Add(sums[r][h], x, weights[h]);
          }
        }
#pragma GCC unroll 4
        for (int i = 0; i < kKept; ++i) kept[i] += kLines * kGroupBytes;
      }
    }
  }
  Sums::Finish(p, row, column, sums);
}

template <typename Sums, int kRows>
void TileOf(const NarrowProduct& p, int64_t rows, int64_t row, int64_t column,
            const unsigned char* ahead) {
  if constexpr (kRows == 1) {
    Tile<Sums, 1>(p, row, column, ahead);
  } else if (rows == kRows) {
    Tile<Sums, kRows>(p, row, column, ahead);
  } else {
    TileOf<Sums, kRows - 1>(p, rows, row, column, ahead);
  }
}

template <typename Sums>
void Multiply(const NarrowProduct& p) {
  // Tiles have about equal heights, so that the last one does not have a single row.
  const int64_t tiles = (p.rows + kTileRows - 1) / kTileRows;
  for (int64_t column = 0; column < p.outputs; column += kNarrowPanel) {
    const bool more = column + kNarrowPanel < p.outputs;
    for (int64_t tile = 0; tile < tiles; ++tile) {
      const int64_t row = tile * p.rows / tiles;
      TileOf<Sums, kTileRows>(
          p, (tile + 1) * p.rows / tiles - row, row, column,
          more && tile == 0 ? p.panels + (column + kNarrowPanel) * ColumnBytes(p) : nullptr);
    }
  }
}

}  // namespace

constinit const NarrowKernels kAvx512Int8 = {"avx512_vnni", Target::kAvx512Vnni,
                                             &ConvertToInt8<Int8Sums::kFlip>, &Multiply<Int8Sums>};
constinit const NarrowKernels kAvx512Bfloat = {"avx512_bf16", Target::kAvx512Bf16, &ConvertToBfloat,
                                               &Multiply<BfloatSums>};

}  // namespace millrace::kernels
