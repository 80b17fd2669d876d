// The float kernels, written once in the compiler's vector extension and compiled per instruction
// set. Included by the kernels_*.cc files only, behind the definition of MILLRACE_VECTOR_BYTES.
// Sums are taken in an order that depends on the row's length alone.

#include <cstdint>

#include "models/translation/kernels/kernels.h"
#include "models/translation/kernels/vector_math.inl"

namespace millrace::models::kernels {
namespace {

void Attend(const AttentionArgs& a) {
  constexpr int64_t kMaxVectors = 16;  // a head of 64 floats in vectors of 4
  const int64_t size = a.dim / a.heads;
  const int64_t vectors = size / kLanes;
  const float scale = 1.0F / __builtin_sqrtf(static_cast<float>(size));
  for (int64_t i = 0; i < a.query_count; ++i) {
    for (int64_t head = 0; head < a.heads; ++head) {
      const float* query = a.queries + i * a.query_stride + head * size;
      const float* keys = a.keys + head * size * a.padded;
      for (int64_t j = 0; j < a.padded; j += kLanes) {
        Floats score = {};
        for (int64_t d = 0; d < size; ++d) score += Load(keys + d * a.padded + j) * query[d];
        Store(a.scores + j, score * scale);
      }
      Softmax(a.scores, a.length, a.padded);
      Floats mixed[kMaxVectors] = {};
      for (int64_t j = 0; j < a.length; ++j) {
        const float* value = a.values + j * a.value_stride + head * size;
        for (int64_t v = 0; v < vectors; ++v) mixed[v] += Load(value + v * kLanes) * a.scores[j];
      }
      float* out = a.out + i * a.out_stride + head * size;
      for (int64_t v = 0; v < vectors; ++v) Store(out + v * kLanes, mixed[v]);
    }
  }
}

void AddNorm(float* x, const float* y, int64_t rows, int64_t dim, const float* scale,
             const float* bias, float epsilon) {
  for (int64_t row = 0; row < rows; ++row, x += dim, y += dim) {
    Floats total = {};
    for (int64_t i = 0; i < dim; i += kLanes) {
      const Floats sum = Load(x + i) + Load(y + i);
      total += sum;
      Store(x + i, sum);
    }
    const Floats mean = Broadcast(Sum(total) / static_cast<float>(dim));
    Floats squares = {};
    for (int64_t i = 0; i < dim; i += kLanes) {
      const Floats centred = Load(x + i) - mean;
      squares += centred * centred;
    }
    const float variance = Sum(squares) / static_cast<float>(dim);
    const Floats inverse = Broadcast(1.0F / __builtin_sqrtf(variance + epsilon));
    for (int64_t i = 0; i < dim; i += kLanes) {
      Store(x + i, (Load(x + i) - mean) * inverse * Load(scale + i) + Load(bias + i));
    }
  }
}

void Ssru(const float* gates, int64_t rows, int64_t dim, float* cell, float* out) {
  for (int64_t row = 0; row < rows; ++row, gates += 2 * dim, cell += dim, out += dim) {
    for (int64_t i = 0; i < dim; i += kLanes) {
      const Floats forget = 1.0F / (1.0F + Exp(-Load(gates + i)));
      const Floats candidate = Load(gates + dim + i);
      const Floats next = forget * Load(cell + i) + (1.0F - forget) * candidate;
      Store(cell + i, next);
      Store(out + i, Max(next, Floats{}));
    }
  }
}

// The scale that maps the row's largest magnitude to 32767, and its inverse.
struct RowScale {
  float scale;
  float inverse;
};

inline RowScale ScaleOf(const float* x, int64_t inputs) {
  Floats largest = {};
  for (int64_t i = 0; i < inputs; i += kLanes) {
    const Floats v = Load(x + i);
    largest = Max(largest, Max(v, -v));
  }
  const float top = Largest(largest);
  if (!(top > 0)) return {0.0F, 0.0F};
  return {top / 32767.0F, 32767.0F / top};
}

}  // namespace
}  // namespace millrace::models::kernels
