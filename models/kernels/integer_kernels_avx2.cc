#include <immintrin.h>

#define MILLRACE_VECTOR_BYTES 32
#include "models/kernels/integer_kernels.inl"

namespace millrace::kernels {
namespace {

// VPMADDWD multiplies 16-bit integers and adds pairs: activations stay 16-bit, and weights are
// widened when they are read. VPMADDUBSW would be wider, but it saturates.

void Quantise(const float* x, int64_t rows, const Activations& out) {
  for (int64_t row = 0; row < rows; ++row, x += out.inputs) {
    const RowScale scale = ScaleOf(x, out.inputs);
    out.scales[row] = scale.scale;
    auto* q = reinterpret_cast<int16_t*>(out.values) + row * out.inputs;
    const __m256 inverse = _mm256_set1_ps(scale.inverse);
    for (int64_t i = 0; i < out.inputs; i += 16) {
      const __m256i a = _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_loadu_ps(x + i), inverse));
      const __m256i b = _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_loadu_ps(x + i + 8), inverse));
      const __m256i packed = _mm256_permute4x64_epi64(_mm256_packs_epi32(a, b), 0xD8);
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(q + i), packed);
    }
  }
}

inline __m256i Widen(const int8_t* p) {
  return _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
}

inline __m256i BroadcastGroup(const int16_t* p) {
  int64_t group;
  __builtin_memcpy(&group, p, sizeof(group));
  return _mm256_set1_epi64x(group);
}

// Returns the sums of neighbouring lanes of a and b, in order.
inline __m256i AddNeighbours(__m256i a, __m256i b) {
  return _mm256_permute4x64_epi64(_mm256_hadd_epi32(a, b), 0xD8);
}

constexpr int kQuarters = 4;  // a panel has four, because four columns fill a vector

// Weights of a panel from some group of inputs on, as they are packed.
struct Narrow {
  const int8_t* values;
  __m256i Load(int64_t at) const { return Widen(values + at); }
};

// The same after they were widened, aligned to 32 bytes.
struct Wide {
  const int16_t* values;
  __m256i Load(int64_t at) const {
    return _mm256_load_si256(reinterpret_cast<const __m256i*>(values + at));
  }
};

// Adds the products of kRows rows, `stride` apart, and a panel: of `count` inputs, at most
// kMaxExactSum.
template <int kRows, typename Weights>
inline void AddProducts(const int16_t* activation, int64_t stride, Weights weights, int64_t count,
                        __m256 (&total)[kRows][2]) {
  __m256i sums[kRows][kQuarters] = {};
  for (int64_t k = 0; k < count; k += kGroup) {
    __m256i q[kRows];
#pragma GCC unroll 2
    for (int64_t r = 0; r < kRows; ++r) q[r] = BroadcastGroup(activation + r * stride + k);
#pragma GCC unroll 4
    for (int64_t i = 0; i < kQuarters; ++i) {
      const __m256i w = weights.Load(k * kPanel + i * 16);
#pragma GCC unroll 2
      for (int64_t r = 0; r < kRows; ++r) {
        sums[r][i] = _mm256_add_epi32(sums[r][i], _mm256_madd_epi16(w, q[r]));
      }
    }
  }
  for (int64_t r = 0; r < kRows; ++r) {
    for (int64_t half = 0; half < 2; ++half) {
      const __m256i sum = AddNeighbours(sums[r][2 * half], sums[r][2 * half + 1]);
      total[r][half] = _mm256_add_ps(total[r][half], _mm256_cvtepi32_ps(sum));
    }
  }
}

// Scales the sums of kRows rows and a panel, adds the bias, and stores the results.
template <int kRows>
inline void Finish(const Activations& a, int64_t row, const PackedView& m, int64_t panel, bool relu,
                   const __m256 (&total)[kRows][2], float* out) {
  for (int64_t r = 0; r < kRows; ++r) {
    const __m256 row_scale = _mm256_set1_ps(a.scales[row + r]);
    for (int64_t half = 0; half < 2; ++half) {
      const int64_t column = panel * kPanel + half * 8;
      const __m256 scale = _mm256_mul_ps(row_scale, _mm256_loadu_ps(m.scales + column));
      __m256 result = _mm256_fmadd_ps(total[r][half], scale, _mm256_loadu_ps(m.bias + column));
      if (relu) result = _mm256_max_ps(result, _mm256_setzero_ps());
      _mm256_storeu_ps(out + (row + r) * m.out_stride + column, result);
    }
  }
}

inline int64_t Least(int64_t a, int64_t b) { return a < b ? a : b; }

template <int kRows>
inline void Tile(const Activations& a, int64_t row, const PackedView& m, int64_t panel, bool relu,
                 float* out) {
  const int16_t* activation = reinterpret_cast<const int16_t*>(a.values) + row * m.inputs;
  const int8_t* weights = m.values + panel * kPanel * m.inputs;
  __m256 total[kRows][2] = {};
  for (int64_t begin = 0; begin < m.inputs; begin += kMaxExactSum) {
    AddProducts(activation + begin, m.inputs, Narrow{weights + begin * kPanel},
                Least(m.inputs - begin, kMaxExactSum), total);
  }
  Finish(a, row, m, panel, relu, total, out);
}

// Adds the products of the inputs from `begin` on to the sums that `out` holds, unless they are the
// first, and finishes them after the last.
template <int kRows>
inline void WideTile(const Activations& a, int64_t row, const PackedView& m, int64_t panel,
                     int64_t begin, Wide weights, bool relu, float* out) {
  const int64_t count = Least(m.inputs - begin, kMaxExactSum);
  const auto sums = [&](int64_t r, int64_t half) {
    return out + (row + r) * m.out_stride + panel * kPanel + half * 8;
  };
  __m256 total[kRows][2] = {};
  if (begin > 0) {
    for (int64_t r = 0; r < kRows; ++r)
      for (int64_t half = 0; half < 2; ++half) total[r][half] = _mm256_loadu_ps(sums(r, half));
  }
  AddProducts(reinterpret_cast<const int16_t*>(a.values) + row * m.inputs + begin, m.inputs,
              weights, count, total);
  if (begin + count == m.inputs) {
    Finish(a, row, m, panel, relu, total, out);
    return;
  }
  for (int64_t r = 0; r < kRows; ++r)
    for (int64_t half = 0; half < 2; ++half) _mm256_storeu_ps(sums(r, half), total[r][half]);
}

// Widens the weights of a panel once for all rows, which takes as long as two rows gain.
void MultiplyWidened(const Activations& a, int64_t rows, const PackedView& m, bool relu,
                     float* out) {
  alignas(64) int16_t wide[kMaxExactSum * kPanel];
  for (int64_t panel = 0; panel < m.outputs / kPanel; ++panel) {
    const int8_t* weights = m.values + panel * kPanel * m.inputs;
    for (int64_t begin = 0; begin < m.inputs; begin += kMaxExactSum) {
      const int64_t count = Least(m.inputs - begin, kMaxExactSum);
      for (int64_t i = 0; i < count * kPanel; i += 16) {
        _mm256_store_si256(reinterpret_cast<__m256i*>(wide + i),
                           Widen(weights + begin * kPanel + i));
      }
      int64_t row = 0;
      for (; row + 2 <= rows; row += 2) WideTile<2>(a, row, m, panel, begin, Wide{wide}, relu, out);
      if (row < rows) WideTile<1>(a, row, m, panel, begin, Wide{wide}, relu, out);
    }
  }
}

// The fewest rows for which widening pays.
constexpr int64_t kRowsToWiden = 12;

void Multiply(const Activations& a, int64_t rows, const PackedView& m, bool relu, float* out) {
  if (rows >= kRowsToWiden) {
    MultiplyWidened(a, rows, m, relu, out);
    return;
  }
  const int64_t panels = m.outputs / kPanel;
  for (int64_t block = 0; block < panels; block += kPanelsPerBlock) {
    for (int64_t row = 0; row < rows;) {
      const int64_t left = rows - row;
      for (int64_t panel = block; panel < block + PanelsOfBlock(block, panels); ++panel) {
        if (left == 1) {
          Tile<1>(a, row, m, panel, relu, out);
        } else {
          Tile<2>(a, row, m, panel, relu, out);
        }
      }
      row += left == 1 ? 1 : 2;
    }
  }
}

void Logits(const LogitsArgs& a) {
  constexpr int64_t kRows = 4;  // at once, which share the activations and the end of their sums
  const auto* q = reinterpret_cast<const int16_t*>(a.activation);
  const __m128 scale = _mm_set1_ps(a.scale);
  for (int64_t i = 0; i < a.count; i += kRows) {
    const int8_t* rows[kRows];
    for (int64_t r = 0; r < kRows; ++r) rows[r] = a.matrix + a.rows[i + r] * a.inputs;
    __m256i sums[kRows] = {};
    for (int64_t k = 0; k < a.inputs; k += 16) {
      const __m256i x = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(q + k));
#pragma GCC unroll 4
      for (int64_t r = 0; r < kRows; ++r) {
        sums[r] = _mm256_add_epi32(sums[r], _mm256_madd_epi16(Widen(rows[r] + k), x));
      }
    }
    const __m256i halves =
        _mm256_hadd_epi32(_mm256_hadd_epi32(sums[0], sums[1]), _mm256_hadd_epi32(sums[2], sums[3]));
    const __m128i sum =
        _mm_add_epi32(_mm256_castsi256_si128(halves), _mm256_extracti128_si256(halves, 1));
    const __m128 bias = _mm_loadu_ps(a.bias + i);
    _mm_storeu_ps(a.out + i, _mm_fmadd_ps(_mm_cvtepi32_ps(sum), scale, bias));
  }
}

}  // namespace

const IntegerKernels kAvx2Integer = {"avx2", Target::kAvx2, Quantise, Multiply,
                                     Logits, Attend,        AddNorm,  Ssru};

}  // namespace millrace::kernels
