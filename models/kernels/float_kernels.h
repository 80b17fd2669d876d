#pragma once

#include <cstdint>
#include <span>

#include "models/kernels/target.h"

// The hot loops in float32 for each instruction set. The interface has plain pointers and strides:
// the files behind this header are compiled with different flags, so they include nothing that
// could put an inline function compiled for a newer CPU into the program.
//
// Each row is summed in an order that depends on its own length only: the result of a row does not
// depend on the other rows, bit for bit.
namespace millrace::kernels {

// Columns of a packed float matrix come in panels: value (row k, column n) is at
// [n / kFloatPanel][k][n % kFloatPanel].
inline constexpr int64_t kFloatPanel = 32;

// Computes out[row][n] = bias[n] + sum over k of a[row][k] * matrix[k][n], for all columns of the
// panels.
struct FloatProduct {
  const float* a = nullptr;
  int64_t a_stride = 0;
  int64_t rows = 0;
  const float* panels = nullptr;  // aligned to 64
  const float* bias = nullptr;    // padded to whole panels
  int64_t inputs = 0;
  int64_t outputs = 0;  // a multiple of kFloatPanel
  float* out = nullptr;
  int64_t out_stride = 0;
};

// Attention of one query to the keys and values of `count` tokens, which may lie anywhere.
struct FloatAttention {
  const float* query = nullptr;  // heads * size floats
  const float* const* tokens = nullptr;
  int64_t key = 0;  // offsets of the key and the value in a token's floats
  int64_t value = 0;
  int64_t count = 0;  // at least 1
  int64_t heads = 0;
  int64_t size = 0;         // size of a head, a multiple of 16
  float* scores = nullptr;  // scratch, heads * PadScores(count)
  float* out = nullptr;     // heads * size floats
};

inline constexpr int64_t PadScores(int64_t count) { return (count + 15) / 16 * 16; }

// A set of kernels for one instruction set. Thread-safe functions without state.
struct FloatKernels {
  const char* name;
  Target target;
  void (*multiply)(const FloatProduct& product);
  void (*attend)(const FloatAttention& attention);
  // Computes out = normalise(x) * scale + bias for rows of `dim` floats, a multiple of 16. out may
  // be x.
  void (*norm)(const float* x, int64_t rows, int64_t dim, const float* scale, const float* bias,
               float epsilon, float* out);
  void (*add)(const float* y, int64_t count, float* x);  // x += y; count a multiple of 16
  void (*relu)(float* x, int64_t count);                 // a multiple of 16
  void (*swish)(float* x, int64_t count);                // x * sigmoid(x); a multiple of 16
  // Returns log(sum(exp(x))); minus infinity adds nothing.
  float (*log_sum_exp)(const float* x, int64_t count);
  // Returns the index of the first greatest value, ignoring NaN; 0 if all are NaN.
  int64_t (*argmax)(const float* x, int64_t count);
};

extern const FloatKernels kPortableFloat;
#if defined(__x86_64__)
extern const FloatKernels kAvx2Float;
extern const FloatKernels kAvx512Float;
#elif defined(__aarch64__)
extern const FloatKernels kNeonFloat;
#endif

// Returns the sets of this build that this CPU can run, best first; kPortableFloat is always among
// them.
std::span<const FloatKernels* const> SupportedFloatKernels();

}  // namespace millrace::kernels
