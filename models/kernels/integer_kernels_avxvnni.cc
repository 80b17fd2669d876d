#include <immintrin.h>

#define MILLRACE_VECTOR_BYTES 32
#include "models/kernels/avxvnni.inl"
#include "models/kernels/integer_kernels.inl"

namespace millrace::kernels {
namespace {

// As with AVX-512 and VNNI (see integer_vnni.inl), an activation is split into two unsigned bytes:
// sum(q w) = 256 * (sum(high w) - 128 sum(w)) + sum(low w). Layout of activations: the high bytes
// of a group of four, then its low bytes, then the next group.

void Quantise(const float* x, int64_t rows, const Activations& out) {
  const __m256i middle = _mm256_set1_epi32(128);
  const __m256i byte = _mm256_set1_epi32(255);
  for (int64_t row = 0; row < rows; ++row, x += out.inputs) {
    const RowScale scale = ScaleOf(x, out.inputs);
    out.scales[row] = scale.scale;
    auto* groups = reinterpret_cast<__m256i*>(out.values + row * 2 * out.inputs);
    const __m256 inverse = _mm256_set1_ps(scale.inverse);
    // Quantises eight activations to two groups of both bytes, as 16-bit integers.
    const auto split = [&](const float* from) {
      const __m256i q = _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_loadu_ps(from), inverse));
      return _mm256_packs_epi32(_mm256_add_epi32(_mm256_srai_epi32(q, 8), middle),
                                _mm256_and_si256(q, byte));
    };
    for (int64_t i = 0; i < out.inputs; i += 16) {
      const __m256i bytes = _mm256_packus_epi16(split(x + i), split(x + i + 8));
      _mm256_storeu_si256(groups++, _mm256_permute4x64_epi64(bytes, 0xD8));
    }
  }
}

constexpr int64_t kPanelVectors = kPanel / kLanes;  // the vectors of a panel's sums

inline __m256i BroadcastGroup(const uint8_t* p) {
  int32_t group;
  __builtin_memcpy(&group, p, sizeof(group));
  return _mm256_set1_epi32(group);
}

inline __m256i LoadInts(const void* p) {
  return _mm256_loadu_si256(static_cast<const __m256i*>(p));
}

// Computes kRows rows of activations times a panel with all sums in registers.
template <int kRows>
inline void Tile(const Activations& a, int64_t row, const PackedView& m, int64_t panel, bool relu,
                 float* out) {
  const int64_t stride = 2 * m.inputs;
  const uint8_t* activation = a.values + row * stride;
  const int8_t* weights = m.values + panel * kPanel * m.inputs;
  __m256i high[kRows][kPanelVectors];
  __m256i low[kRows][kPanelVectors];
#pragma GCC unroll 3
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
    for (int64_t v = 0; v < kPanelVectors; ++v) {
      const __m256i correction = LoadInts(m.corrections + panel * kPanel + v * kLanes);
      high[r][v] = _mm256_sub_epi32(_mm256_setzero_si256(), correction);
      low[r][v] = _mm256_setzero_si256();
    }
  }
  for (int64_t k = 0; k < m.inputs; k += kGroup) {
    __m256i w[kPanelVectors];
#pragma GCC unroll 2
    for (int64_t v = 0; v < kPanelVectors; ++v) w[v] = LoadInts(weights + k * kPanel + 32 * v);
#pragma GCC unroll 3
    for (int r = 0; r < kRows; ++r) {
      const uint8_t* group = activation + r * stride + 2 * k;
      const __m256i top = BroadcastGroup(group);
      const __m256i bottom = BroadcastGroup(group + kGroup);
#pragma GCC unroll 2
      for (int64_t v = 0; v < kPanelVectors; ++v) {
        MultiplyAdd(high[r][v], top, w[v]);
        MultiplyAdd(low[r][v], bottom, w[v]);
      }
    }
  }
  for (int r = 0; r < kRows; ++r) {
    const __m256 row_scale = _mm256_set1_ps(a.scales[row + r]);
    for (int64_t v = 0; v < kPanelVectors; ++v) {
      const int64_t column = panel * kPanel + v * kLanes;
      const __m256 sum = _mm256_fmadd_ps(_mm256_cvtepi32_ps(high[r][v]), _mm256_set1_ps(256.0F),
                                         _mm256_cvtepi32_ps(low[r][v]));
      const __m256 scale = _mm256_mul_ps(_mm256_loadu_ps(m.scales + column), row_scale);
      __m256 result = _mm256_fmadd_ps(sum, scale, _mm256_loadu_ps(m.bias + column));
      if (relu) result = _mm256_max_ps(result, _mm256_setzero_ps());
      _mm256_storeu_ps(out + (row + r) * m.out_stride + column, result);
    }
  }
}

template <int kRows>
void Block(const Activations& a, int64_t row, const PackedView& m, int64_t block, bool relu,
           float* out) {
  const int64_t end = block + PanelsOfBlock(block, m.outputs / kPanel);
  for (int64_t panel = block; panel < end; ++panel) Tile<kRows>(a, row, m, panel, relu, out);
}

void Multiply(const Activations& a, int64_t rows, const PackedView& m, bool relu, float* out) {
  constexpr int64_t kMaxRows = 3;
  for (int64_t block = 0; block < m.outputs / kPanel; block += kPanelsPerBlock) {
    for (int64_t row = 0; row < rows;) {
      // Four rows are two tiles of two, because a tile of one row wastes most of its loads.
      const int64_t left = rows - row;
      const int64_t count = left == 4 ? 2 : left < kMaxRows ? left : kMaxRows;
      if (count == 1) {
        Block<1>(a, row, m, block, relu, out);
      } else if (count == 2) {
        Block<2>(a, row, m, block, relu, out);
      } else {
        Block<3>(a, row, m, block, relu, out);
      }
      row += count;
    }
  }
}

// Adds the integers of each of eight vectors: lane i of the result is the sum of v[i].
inline __m256i SumEach(const __m256i* v) {
  const auto four = [](const __m256i* q) {
    return _mm256_hadd_epi32(_mm256_hadd_epi32(q[0], q[1]), _mm256_hadd_epi32(q[2], q[3]));
  };
  const __m256i first = four(v);
  const __m256i second = four(v + 4);
  return _mm256_add_epi32(_mm256_permute2x128_si256(first, second, 0x20),
                          _mm256_permute2x128_si256(first, second, 0x31));
}

void Logits(const LogitsArgs& a) {
  constexpr int64_t kMaxChunks = kMaxExactSum / 32;
  const int64_t chunks = a.inputs / 32;
  __m256i high[kMaxChunks];
  __m256i low[kMaxChunks];
  // Brings the even and the odd groups of four bytes of two vectors together.
  for (int64_t c = 0; c < chunks; ++c) {
    const auto halves = [&](int64_t from) {
      return _mm256_permute4x64_epi64(_mm256_shuffle_epi32(LoadInts(a.activation + from), 0xD8),
                                      0xD8);
    };
    const __m256i first = halves(64 * c);
    const __m256i second = halves(64 * c + 32);
    high[c] = _mm256_permute2x128_si256(first, second, 0x20);
    low[c] = _mm256_permute2x128_si256(first, second, 0x31);
  }
  const __m256 scale = _mm256_set1_ps(a.scale);
  for (int64_t i = 0; i < a.count; i += kLanes) {
    __m256i sums[kLanes];
    for (int64_t r = 0; r < kLanes; ++r) {
      const int8_t* row = a.matrix + a.rows[i + r] * a.inputs;
      __m256i top = _mm256_setzero_si256();
      __m256i bottom = _mm256_setzero_si256();
      for (int64_t c = 0; c < chunks; ++c) {
        const __m256i w = LoadInts(row + 32 * c);
        MultiplyAdd(top, high[c], w);
        MultiplyAdd(bottom, low[c], w);
      }
      // This may wrap around; the sum fits again once the correction is subtracted.
      sums[r] = _mm256_add_epi32(_mm256_slli_epi32(top, 8), bottom);
    }
    const __m256i correction = _mm256_slli_epi32(LoadInts(a.corrections + i), 8);
    const __m256 sum = _mm256_cvtepi32_ps(_mm256_sub_epi32(SumEach(sums), correction));
    _mm256_storeu_ps(a.out + i, _mm256_fmadd_ps(sum, scale, _mm256_loadu_ps(a.bias + i)));
  }
}

}  // namespace

const IntegerKernels kAvxVnniInteger = {"avxvnni", Target::kAvxVnni, Quantise, Multiply,
                                        Logits,    Attend,           AddNorm,  Ssru};

}  // namespace millrace::kernels
