// The float kernels in the compiler's vector extension, compiled for each instruction set. Included
// only by the integer_kernels_*.cc files, after the definition of MILLRACE_VECTOR_BYTES. Sums are
// taken in an order that depends on the row's length only.

#include <cstdint>

#include "models/kernels/integer_kernels.h"
#include "models/kernels/vector_math.inl"

namespace millrace::kernels {
namespace {

// Computes kQueries queries from `first` on together, so that keys and values are loaded once; each
// is summed in the same order as alone.
template <int64_t kQueries>
void AttendHead(const AttentionArgs& a, int64_t first, int64_t head, int64_t size, float scale) {
  const float* query = a.queries + first * a.query_stride + head * size;
  const float* keys = a.keys + head * size * a.padded;
  for (int64_t j = 0; j < a.padded; j += kLanes) {
    Floats score[kQueries] = {};
    for (int64_t d = 0; d < size; ++d) {
      const Floats key = Load(keys + d * a.padded + j);
      for (int64_t q = 0; q < kQueries; ++q) score[q] += key * query[q * a.query_stride + d];
    }
    for (int64_t q = 0; q < kQueries; ++q) Store(a.scores + q * a.padded + j, score[q] * scale);
  }
  SoftmaxRows<kQueries>(a.scores, a.length, a.padded);
  if (a.attended != nullptr) {
    float* attended = a.attended + first * a.padded;
    for (int64_t j = 0; j < kQueries * a.padded; j += kLanes) {
      const Floats weights = Load(a.scores + j);
      Store(attended + j, head == 0 ? weights : Load(attended + j) + weights);
    }
  }
  float* out = a.out + first * a.out_stride + head * size;
  const auto mix = [&]<int64_t kVectors>(int64_t from) {
    Floats mixed[kQueries][kVectors] = {};
    for (int64_t j = 0; j < a.length; ++j) {
      const float* value = a.values + j * a.value_stride + head * size + from;
      for (int64_t v = 0; v < kVectors; ++v) {
        const Floats part = Load(value + v * kLanes);
        for (int64_t q = 0; q < kQueries; ++q) mixed[q][v] += part * a.scores[q * a.padded + j];
      }
    }
    for (int64_t q = 0; q < kQueries; ++q) {
      for (int64_t v = 0; v < kVectors; ++v)
        Store(out + q * a.out_stride + from + v * kLanes, mixed[q][v]);
    }
  };
  int64_t from = 0;
  for (; from + 2 * kLanes <= size; from += 2 * kLanes) mix.template operator()<2>(from);
  // The last vector may overlap the one before it, with the same results.
  for (; from < size; from += kLanes)
    mix.template operator()<1>(from + kLanes < size ? from : size - kLanes);
}

void Attend(const AttentionArgs& a) {
  constexpr int64_t kTogether = AttentionArgs::kQueriesTogether;
  const int64_t size = a.dim / a.heads;
  const float scale = 1.0F / __builtin_sqrtf(static_cast<float>(size));
  int64_t i = 0;
  for (; i + kTogether <= a.query_count; i += kTogether) {
    for (int64_t head = 0; head < a.heads; ++head) AttendHead<kTogether>(a, i, head, size, scale);
  }
  for (; i < a.query_count; ++i) {
    for (int64_t head = 0; head < a.heads; ++head) AttendHead<1>(a, i, head, size, scale);
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
}  // namespace millrace::kernels
