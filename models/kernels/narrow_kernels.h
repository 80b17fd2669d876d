#pragma once

#include <cstdint>
#include <span>

#include "models/kernels/target.h"

// Products of narrow numbers, int8 or bfloat16, for each instruction set. Plain pointers as in
// float_kernels.h, and a row's result does not depend on other rows either. With int8 all sets give
// the same bits.
namespace millrace::kernels {

// Columns of a packed narrow matrix come in panels of two halves. Four bytes of the inputs of a
// half's columns, a group, lie side by side in a line; lines follow one another in blocks of 16,
// one of each half in turn.
inline constexpr int64_t kNarrowPanel = 32;
inline constexpr int64_t kNarrowHalf = 16;
inline constexpr int64_t kGroupBytes = 4;
inline constexpr int64_t kLineBytes = kNarrowHalf * kGroupBytes;
inline constexpr int64_t kBlockDepth = 64;  // bytes of a column in a block

// Returns the position of byte `at` of a column's inputs; a column has `depth` bytes.
inline constexpr int64_t NarrowOffset(int64_t column, int64_t at, int64_t depth) {
  return column / kNarrowPanel * kNarrowPanel * depth +
         at / kBlockDepth * kBlockDepth * kNarrowPanel +
         column % kNarrowPanel / kNarrowHalf * kBlockDepth * kNarrowHalf +
         at % kBlockDepth / kGroupBytes * kLineBytes + column % kNarrowHalf * kGroupBytes +
         at % kGroupBytes;
}

// The excess of two weights of a column, which kernels that clip pairs multiply apart; the second
// may be zero.
struct NarrowExcess {
  int32_t at[2] = {};  // among the column's inputs
  int16_t value[2] = {};
  int32_t column = 0;  // the column in its half of a panel
};

// Rows of a block of transposed inputs; a matrix with fewer rows has none.
inline constexpr int64_t kTransposedRows = 16;
inline constexpr int64_t kLeastTransposed = 8;

// Computes out[row][n] = bias[n] + sum over k of a[row][k] * matrix[k][n], for all columns of the
// panels; with int8 the sum is scaled by a_scales[row] * scales[n]. With several taps, of int8
// alone, it is a convolution over the rows: the inputs of a column are depth bytes for each tap,
// and tap t multiplies row + t * dilation of a.
struct NarrowProduct {
  const unsigned char* a = nullptr;  // aligned to 64; rows of depth bytes, written by convert
  const float* a_scales = nullptr;   // for int8, written by convert
  int64_t rows = 0;
  const unsigned char* panels = nullptr;  // aligned to 64
  // Padded to whole panels; for bfloat16 only the bias.
  const float* scales = nullptr;
  const int32_t* sums = nullptr;  // the sum of each column's weights, unclipped
  const float* bias = nullptr;
  // For kernels that clip pairs: the excess of half-panel h is excess[excess_begin[h]] up to, not
  // including, excess[excess_begin[h + 1]], with its columns in turn. Null if there is none.
  const NarrowExcess* excess = nullptr;
  const int32_t* excess_begin = nullptr;
  const int16_t* transposed = nullptr;  // see NarrowRows
  int64_t depth = 0;                    // a multiple of kBlockDepth
  int64_t taps = 1;
  int64_t dilation = 1;  // in rows
  int64_t outputs = 0;   // a multiple of kNarrowPanel
  float* out = nullptr;
  int64_t out_stride = 0;
  // For int8 alone, as ConvTask has them: what is done with the sums, in this order, before they
  // are stored at `out`, which may then be null. All rows lie out_stride apart.
  const float* added = nullptr;
  const float* partial = nullptr;
  float out_scale = 1.0F;
  float* active = nullptr;
  float slope = 0.0F;
};

// A conversion of rows of floats to narrow numbers.
struct NarrowRows {
  const float* x = nullptr;
  int64_t stride = 0;
  int64_t rows = 0;
  int64_t inputs = 0;            // a multiple of 16
  int64_t depth = 0;             // bytes of a row of results; those beyond the inputs become zero
  unsigned char* out = nullptr;  // aligned to 64
  float* scales = nullptr;       // for int8: one for each row
  bool together = false;         // for int8: all rows have the scale of the greatest magnitude
  // For kernels that clip pairs, or null: the same numbers once more, [block of 16 rows][byte of
  // depth][row of the block], aligned to 64; rows beyond the last are zero.
  int16_t* transposed = nullptr;
};

// A set of kernels for one instruction set and one kind of number. Thread-safe functions without
// state.
struct NarrowKernels {
  const char* name;
  Target target;
  // Converts rows. With int8 a row is scaled so that its greatest magnitude, or that of all rows if
  // they are scaled together, is 127. A row with a value that is not finite gets a scale that is
  // not finite, so that its products are not either.
  void (*convert)(const NarrowRows& rows);
  void (*multiply)(const NarrowProduct& product);
  // True if pairs of weights must be clipped, so that the sum of two products with numbers of
  // 8 bits without a sign fits into 16 bits; see kGreatestPair.
  bool clips_pairs = false;
};

// The greatest sum of two neighbouring weights of one sign that kernels that clip pairs take: 255
// times as much is below 2^15.
inline constexpr int kGreatestPair = 128;

extern const NarrowKernels kPortableInt8;
extern const NarrowKernels kPortableBfloat;
#if defined(__x86_64__)
extern const NarrowKernels kAvx2Int8;
extern const NarrowKernels kAvx2Bfloat;
extern const NarrowKernels kAvxVnniInt8;
extern const NarrowKernels kAvx512Int8;
extern const NarrowKernels kAvx512Bfloat;
extern const NarrowKernels kAmxInt8;
extern const NarrowKernels kAmxBfloat;
#elif defined(__aarch64__)
extern const NarrowKernels kNeonInt8;
extern const NarrowKernels kNeonDotInt8;
extern const NarrowKernels kNeonMatrixInt8;
#endif

// Returns the sets of this build that this CPU can run, best first; the portable one is always
// among them.
std::span<const NarrowKernels* const> SupportedInt8Kernels();
std::span<const NarrowKernels* const> SupportedBfloatKernels();

// Returns true if the best of the int8 sets multiplies and sums bytes by one instruction.
// Convolutions in int8 are then faster than those in float32.
bool HasInt8DotProducts();

}  // namespace millrace::kernels
