#pragma once

#include <cstdint>
#include <span>

#include "models/kernels/target.h"

// The hot loops of the int8 engine, once per instruction set. Plain pointers and strides: the
// files behind this header are compiled with other flags than the rest, so they include nothing
// that could leak an inline function compiled for a newer CPU into the program.
//
// Arithmetic: a matrix is int8 with a scale per column, a row of activations 16-bit integers with a
// scale of its own; their products are summed exactly. 16 bits leave an error near float32's own,
// and an exact sum does not depend on how rows are grouped: a row's result is the same in any
// batch.
namespace millrace::kernels {

// Columns of a packed matrix come in panels of kPanel, its rows in groups of kGroup: value (row k,
// column n) is at [n / kPanel][k / kGroup][n % kPanel][k % kGroup].
inline constexpr int64_t kPanel = 16;
inline constexpr int64_t kGroup = 4;
// Panels are processed so many at a time: columns are a multiple of kPanel * kPanelsPerBlock.
inline constexpr int64_t kPanelsPerBlock = 8;
// Longest sum that 32-bit integers hold for certain: 512 * 32767 * 127 < 2^31.
inline constexpr int64_t kMaxExactSum = 512;

// Rows of quantised activations: 2 * inputs bytes each, in the kernel's own layout, and a scale
// each.
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
};

// One query each against the keys and values of a sentence.
struct AttentionArgs {
  static constexpr int64_t kQueriesTogether = 4;

  const float* queries = nullptr;
  int64_t query_stride = 0;
  int64_t query_count = 0;
  const float* keys = nullptr;    // transposed: [dim][padded], zeros behind length
  const float* values = nullptr;  // [length][value_stride]
  int64_t value_stride = 0;
  int64_t length = 0;
  int64_t padded = 0;  // PadLength(length)
  int64_t dim = 0;
  int64_t heads = 0;
  float* scores = nullptr;  // scratch, [least of query_count and kQueriesTogether][padded]
  float* out = nullptr;
  int64_t out_stride = 0;
};

// Rows of a row-major int8 matrix against one row of activations: the output layer over a
// shortlist.
struct LogitsArgs {
  const uint8_t* activation = nullptr;  // one row
  float scale = 0;                      // of the row, times that of the matrix
  const int8_t* matrix = nullptr;
  int64_t inputs = 0;                    // at most kMaxExactSum, a multiple of 64
  const int32_t* rows = nullptr;         // count of them, a multiple of kPanel
  const int32_t* corrections = nullptr;  // 128 * sum of each of these rows
  const float* bias = nullptr;           // of each of these rows
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
  // Rows of floats, `inputs` each, to quantised ones.
  void (*quantise)(const float* x, int64_t rows, const Activations& out);
  // out = relu?(a * matrix + bias); rows of `outputs` floats.
  void (*multiply)(const Activations& a, int64_t rows, const PackedView& matrix, bool relu,
                   float* out);
  void (*logits)(const LogitsArgs& args);
  void (*attend)(const AttentionArgs& args);
  // x = normalise(x + y) * scale + bias; rows of `dim` floats, a multiple of 64.
  void (*add_norm)(float* x, const float* y, int64_t rows, int64_t dim, const float* scale,
                   const float* bias, float epsilon);
  // gates: rows of dim forget values before the sigmoid and dim candidates.
  // cell = forget * cell + (1 - forget) * candidate; out = max(cell, 0).
  void (*ssru)(const float* gates, int64_t rows, int64_t dim, float* cell, float* out);
};

extern const IntegerKernels kPortableInteger;
#if defined(__x86_64__)
extern const IntegerKernels kAvx2Integer;
extern const IntegerKernels kAvx512VnniInteger;
extern const IntegerKernels kAmxInteger;
#endif

// Those of this build that this CPU can run, best first; kPortableInteger is always among them.
std::span<const IntegerKernels* const> SupportedIntegerKernels();

}  // namespace millrace::kernels
