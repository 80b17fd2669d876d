#pragma once

#include <cstdint>
#include <span>

#include "models/kernels/target.h"

// The hot loops of the int8 engine for each instruction set. The interface has plain pointers and
// strides: the files behind this header are compiled with different flags, so they include nothing
// that could put an inline function compiled for a newer CPU into the program.
//
// Arithmetic: a matrix is int8 with a scale for each column, a row of activations is int16 with a
// scale of its own, and their products are summed exactly. 16 bits leave an error near that of
// float32, and an exact sum does not depend on how rows are grouped, so that a row's result is the
// same in any batch.
namespace millrace::kernels {

// Columns of a packed matrix come in panels of kPanel, its rows in groups of kGroup: value (row k,
// column n) is at [n / kPanel][k / kGroup][n % kPanel][k % kGroup].
inline constexpr int64_t kPanel = 16;
inline constexpr int64_t kGroup = 4;
// The number of panels that are processed at once; the last block may have half of them.
inline constexpr int64_t kPanelsPerBlock = 8;
// The columns of a packed matrix are a multiple of this.
inline constexpr int64_t kColumns = kPanel * kPanelsPerBlock / 2;
// The longest sum that cannot overflow 32-bit integers: 512 * 32767 * 127 < 2^31.
inline constexpr int64_t kMaxExactSum = 512;

// Rows of quantised activations: for each row a scale and 2 * inputs bytes in the kernel's own
// layout.
struct Activations {
  uint8_t* values = nullptr;
  float* scales = nullptr;  // value = integer * scale
  int64_t inputs = 0;       // a multiple of 64
};

struct PackedView {
  const int8_t* values = nullptr;        // aligned to 64
  const int32_t* corrections = nullptr;  // 128 * sum of the column
  const float* scales = nullptr;         // weight = integer * scale
  const float* bias = nullptr;
  int64_t inputs = 0;
  int64_t outputs = 0;
  int64_t out_stride = 0;  // floats from a row of results to the next
};

// Attention of queries to the keys and values of a sentence.
struct AttentionArgs {
  static constexpr int64_t kQueriesTogether = 4;

  const float* queries = nullptr;
  int64_t query_stride = 0;
  int64_t query_count = 0;
  const float* keys = nullptr;    // transposed: [dim][padded], zeros beyond length
  const float* values = nullptr;  // [length][value_stride]
  int64_t value_stride = 0;
  int64_t length = 0;
  int64_t padded = 0;  // PadLength(length)
  int64_t dim = 0;
  int64_t heads = 0;        // dim / heads is kPanel or more
  float* scores = nullptr;  // scratch, [min(query_count, kQueriesTogether)][padded]
  float* out = nullptr;
  int64_t out_stride = 0;
  // Where not null: how much each query attends to each key, summed over the heads,
  // [query_count][padded].
  float* attended = nullptr;
};

// Products of rows of a row-major int8 matrix and one row of activations: the output layer over a
// shortlist.
struct LogitsArgs {
  const uint8_t* activation = nullptr;  // one row
  float scale = 0;                      // the scale of the activations times that of the matrix
  const int8_t* matrix = nullptr;
  int64_t inputs = 0;                    // at most kMaxExactSum, a multiple of 64
  const int32_t* rows = nullptr;         // count of them, a multiple of kPanel
  const int32_t* corrections = nullptr;  // 128 * sum of each of these rows
  const float* bias = nullptr;           // a value for each of these rows
  int64_t count = 0;
  float* out = nullptr;
};

inline constexpr int64_t PadLength(int64_t length) {
  return (length + kPanel - 1) / kPanel * kPanel;
}

// A set of kernels for one instruction set. Thread-safe functions without state.
struct IntegerKernels {
  const char* name;
  Target target;
  // Quantises rows of `inputs` floats.
  void (*quantise)(const float* x, int64_t rows, const Activations& out);
  // Computes out = a * matrix + bias, with ReLU if `relu`; rows of `outputs` floats, out_stride
  // apart.
  void (*multiply)(const Activations& a, int64_t rows, const PackedView& matrix, bool relu,
                   float* out);
  void (*logits)(const LogitsArgs& args);
  void (*attend)(const AttentionArgs& args);
  // Computes x = normalise(x + y) * scale + bias; rows of `dim` floats, a multiple of 64.
  void (*add_norm)(float* x, const float* y, int64_t rows, int64_t dim, const float* scale,
                   const float* bias, float epsilon);
  // Computes cell = forget * cell + (1 - forget) * candidate and out = max(cell, 0). gates: rows of
  // dim forget values before the sigmoid and dim candidates.
  void (*ssru)(const float* gates, int64_t rows, int64_t dim, float* cell, float* out);
};

extern const IntegerKernels kPortableInteger;
#if defined(__x86_64__)
extern const IntegerKernels kAvx2Integer;
extern const IntegerKernels kAvxVnniInteger;
extern const IntegerKernels kAvx512VnniInteger;
extern const IntegerKernels kAmxInteger;
#elif defined(__aarch64__)
extern const IntegerKernels kNeonInteger;
extern const IntegerKernels kNeonDotInteger;
extern const IntegerKernels kNeonMatrixInteger;
#endif

// Returns the number of panels in the block that begins with this panel.
inline constexpr int64_t PanelsOfBlock(int64_t block, int64_t panels) {
  return panels - block < kPanelsPerBlock ? panels - block : kPanelsPerBlock;
}

// Returns the sets of this build that this CPU can run, best first; kPortableInteger is always
// among them.
std::span<const IntegerKernels* const> SupportedIntegerKernels();

}  // namespace millrace::kernels
