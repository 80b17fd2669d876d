#include <immintrin.h>

#define MILLRACE_VECTOR_BYTES 32
#include "models/kernels/narrow_kernels.inl"
#include "models/kernels/narrow_tiles.inl"
#include "models/kernels/widening_kernels.inl"

namespace millrace::kernels {
namespace {

using Numbers = __m128i;

// Transposes 16 rows of 16 bytes: four perfect shuffles of all bytes.
void Transpose(Numbers (&rows)[16]) {
  for (int step = 0; step < 4; ++step) {
    Numbers shuffled[16];
#pragma GCC unroll 8
    for (int64_t i = 0; i < 8; ++i) {
      shuffled[2 * i] = _mm_unpacklo_epi8(rows[i], rows[i + 8]);
      shuffled[2 * i + 1] = _mm_unpackhi_epi8(rows[i], rows[i + 8]);
    }
    __builtin_memcpy(rows, shuffled, sizeof(rows));
  }
}

void ConvertAndTranspose(const NarrowRows& r) {
  ConvertToInt8<0x80>(r);
  if (r.transposed == nullptr) return;
  int16_t* out = r.transposed;
  for (int64_t block = 0; block < r.rows; block += kTransposedRows) {
    const int64_t rows = r.rows - block < kTransposedRows ? r.rows - block : kTransposedRows;
    for (int64_t at = 0; at < r.depth; at += 16) {
      Numbers numbers[kTransposedRows] = {};
      for (int64_t i = 0; i < rows; ++i)
        __builtin_memcpy(&numbers[i], r.out + (block + i) * r.depth + at, sizeof(numbers[i]));
      Transpose(numbers);
      for (const Numbers& column : numbers) {
        _mm256_store_si256(reinterpret_cast<__m256i*>(out), _mm256_cvtepu8_epi16(column));
        out += kTransposedRows;
      }
    }
  }
}

// VPMADDUBSW takes one factor without its sign: numbers of the rows are 128 too large, as with
// VPDPBUSD. It saturates at 16 bits, which pairs of weights up to kGreatestPair do not reach; what
// was taken off larger ones, about one weight in seventy, is multiplied here before a tile begins.
// The split is that of FBGEMM (Khudia et al., 2021, https://arxiv.org/abs/2101.05615).
class ClippedDot {
 public:
  static constexpr int kTileRows = 6;
  static constexpr int kLines = 1;
  static constexpr int64_t kBlockRows = kTransposedRows;

  ClippedDot(const NarrowProduct& p, int64_t row, int64_t rows, int64_t column) {
    const int64_t half = column / kNarrowHalf;
    const NarrowExcess* excess = nullptr;
    const NarrowExcess* end = nullptr;
    if (p.excess != nullptr) {
      excess = p.excess + p.excess_begin[half];
      end = p.excess + p.excess_begin[half + 1];
    }
    int32_t offsets[kNarrowHalf];  // make up for numbers that are 128 too large
    for (int64_t n = 0; n < kNarrowHalf; ++n) offsets[n] = p.sums[column + n] * -128;
    if (p.transposed != nullptr && excess != end) {
      StartWithExcess(p.transposed + row * p.depth, excess, end, offsets);
      return;
    }
    for (int64_t r = 0; r < rows; ++r) {
      __builtin_memcpy(starts_[r], offsets, sizeof(offsets));
      const unsigned char* const x = p.a + (row + r) * p.depth;
      for (const NarrowExcess* e = excess; e != end; ++e)
        starts_[r][e->column] += x[e->at[0]] * e->value[0] + x[e->at[1]] * e->value[1];
    }
  }

  __m256i Start(int64_t row, int64_t v) const {
    return _mm256_load_si256(reinterpret_cast<const __m256i*>(starts_[row]) + v);
  }
  static __m256i Add(__m256i sums, __m256i x, const __m256i& weights) {
    const __m256i pairs = _mm256_maddubs_epi16(x, weights);
    return _mm256_add_epi32(sums, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
  }

 private:
  // Computes the sums of all rows of a block at once.
  void StartWithExcess(const int16_t* transposed, const NarrowExcess* excess,
                       const NarrowExcess* end, const int32_t* offsets) {
    // By column: rows 0 to 3 and 8 to 11, then the others.
    alignas(64) __m256i sums[kNarrowHalf][2];
    for (int64_t n = 0; n < kNarrowHalf; ++n)
      sums[n][0] = sums[n][1] = _mm256_set1_epi32(offsets[n]);
    for (const NarrowExcess* e = excess; e != end; ++e) {
      const auto load = [&](size_t part) {
        return _mm256_load_si256(
            reinterpret_cast<const __m256i*>(transposed + e->at[part] * kTransposedRows));
      };
      const __m256i x0 = load(0);
      const __m256i x1 = load(1);
      int32_t values;
      __builtin_memcpy(&values, &e->value, sizeof(values));
      const __m256i weights = _mm256_set1_epi32(values);
      __m256i(&of_column)[2] = sums[e->column];
      of_column[0] =
          _mm256_add_epi32(of_column[0], _mm256_madd_epi16(_mm256_unpacklo_epi16(x0, x1), weights));
      of_column[1] =
          _mm256_add_epi32(of_column[1], _mm256_madd_epi16(_mm256_unpackhi_epi16(x0, x1), weights));
    }
    for (int64_t part = 0; part < 2; ++part)
      for (int64_t n = 0; n < kNarrowHalf; n += 8) StoreTransposed(sums, part, n);
  }

  // Stores eight columns of one part of the rows.
  void StoreTransposed(const __m256i (&sums)[kNarrowHalf][2], int64_t part, int64_t column) {
    __m256i pairs[8];
#pragma GCC unroll 4
    for (int64_t i = 0; i < 4; ++i) {
      const __m256i a = sums[column + 2 * i][part];
      const __m256i b = sums[column + 2 * i + 1][part];
      pairs[i] = _mm256_unpacklo_epi32(a, b);      // row 0 of two columns, row 1
      pairs[i + 4] = _mm256_unpackhi_epi32(a, b);  // rows 2 and 3
    }
#pragma GCC unroll 4
    for (int r = 0; r < 4; ++r) {
      const int from = r / 2 * 4;
      const auto fours = [&](int i) {
        return r % 2 == 0 ? _mm256_unpacklo_epi64(pairs[from + i], pairs[from + i + 1])
                          : _mm256_unpackhi_epi64(pairs[from + i], pairs[from + i + 1]);
      };
      const __m256i first = fours(0);
      const __m256i second = fours(2);
      const int64_t row = part * 4 + r;
      Store(row, column, _mm256_permute2x128_si256(first, second, 0x20));
      Store(row + 8, column, _mm256_permute2x128_si256(first, second, 0x31));
    }
  }
  void Store(int64_t row, int64_t column, __m256i eight) {
    _mm256_store_si256(reinterpret_cast<__m256i*>(&starts_[row][column]), eight);
  }

  alignas(64) int32_t starts_[kBlockRows][kNarrowHalf];
};

}  // namespace

constinit const NarrowKernels kAvx2Int8 = {"avx2", Target::kAvx2, &ConvertAndTranspose,
                                           &MultiplyInt8<ClippedDot>, true};
constinit const NarrowKernels kAvx2Bfloat = {"avx2", Target::kAvx2, &ConvertToBfloat,
                                             &MultiplyWidened};

}  // namespace millrace::kernels
