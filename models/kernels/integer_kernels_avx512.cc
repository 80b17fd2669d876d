#include <immintrin.h>

#define MILLRACE_VECTOR_BYTES 64
#include "models/kernels/integer_kernels.inl"
#include "models/kernels/integer_vnni.inl"

namespace millrace::kernels {
namespace {

// Layout of activations: the high bytes of a group of four (see integer_vnni.inl), then its low
// bytes, then the next group.

void Quantise(const float* x, int64_t rows, const Activations& out) {
  for (int64_t row = 0; row < rows; ++row, x += out.inputs) {
    const RowScale scale = ScaleOf(x, out.inputs);
    out.scales[row] = scale.scale;
    auto* groups = reinterpret_cast<__m128i*>(out.values + row * 2 * out.inputs);
    const __m512 inverse = _mm512_set1_ps(scale.inverse);
    for (int64_t i = 0; i < out.inputs; i += 16) {
      const auto [high, low] = QuantiseBytes(x + i, inverse);
      _mm_storeu_si128(groups++, _mm_unpacklo_epi32(high, low));
      _mm_storeu_si128(groups++, _mm_unpackhi_epi32(high, low));
    }
  }
}

inline __m512i BroadcastGroup(const uint8_t* p) {
  int32_t group;
  __builtin_memcpy(&group, p, sizeof(group));
  return _mm512_set1_epi32(group);
}

// Computes kRows rows of activations times kPanels panels with all sums in registers.
template <int kRows, int kPanels>
inline void Tile(const Activations& a, int64_t row, const PackedView& m, int64_t panel, bool relu,
                 float* out) {
  const int64_t inputs = m.inputs;
  const int64_t stride = 2 * inputs;
  const uint8_t* activation = a.values + row * stride;
  const int8_t* weights = m.values + panel * kPanel * inputs;
  __m512i high[kRows][kPanels];
  __m512i low[kRows][kPanels];
#pragma GCC unroll 8
  for (int p = 0; p < kPanels; ++p) {
    const __m512i correction = _mm512_loadu_si512(m.corrections + (panel + p) * kPanel);
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      high[r][p] = _mm512_sub_epi32(_mm512_setzero_si512(), correction);
      low[r][p] = _mm512_setzero_si512();
    }
  }
  for (int64_t k = 0; k < inputs; k += kGroup) {
    __m512i w[kPanels];
#pragma GCC unroll 8
    for (int p = 0; p < kPanels; ++p) {
      w[p] = _mm512_load_si512(weights + p * kPanel * inputs + k * kPanel);
    }
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      const uint8_t* group = activation + (r % 3) * stride + int64_t{r / 3 * 3} * stride + 2 * k;
      const __m512i top = BroadcastGroup(group);
      const __m512i bottom = BroadcastGroup(group + kGroup);
#pragma GCC unroll 8
      for (int p = 0; p < kPanels; ++p) {
        MultiplyAdd(high[r][p], top, w[p]);
        MultiplyAdd(low[r][p], bottom, w[p]);
      }
    }
  }
#pragma GCC unroll 8
  for (int p = 0; p < kPanels; ++p) {
    const int64_t column = (panel + p) * kPanel;
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r)
      StoreSums(high[r][p], low[r][p], a, row + r, m, column, relu, out);
  }
}

template <int kRows, int kPanels>
inline void Block(const Activations& a, int64_t row, const PackedView& m, int64_t panel,
                  int64_t panels, bool relu, float* out) {
  for (int64_t p = 0; p < panels; p += kPanels) {
    Tile<kRows, kPanels>(a, row, m, panel + p, relu, out);
  }
}

void Multiply(const Activations& a, int64_t rows, const PackedView& m, bool relu, float* out) {
  constexpr int64_t kMaxRows = 6;
  for (int64_t panel = 0; panel < m.outputs / kPanel; panel += kPanelsPerBlock) {
    const int64_t panels = PanelsOfBlock(panel, m.outputs / kPanel);
    for (int64_t row = 0; row < rows;) {
      // The remaining rows are divided between two tiles, because a tile of one or two rows wastes
      // most of its loads.
      const int64_t left = rows - row;
      const int64_t count = left <= kMaxRows      ? left
                            : left < 2 * kMaxRows ? (left + 1) / 2
                                                  : kMaxRows;
      switch (count) {
        case 1:
          if (panels == kPanelsPerBlock) {
            Block<1, kPanelsPerBlock>(a, row, m, panel, panels, relu, out);
          } else {
            Block<1, 4>(a, row, m, panel, panels, relu, out);
          }
          break;
        case 2:
          Block<2, 4>(a, row, m, panel, panels, relu, out);
          break;
        case 3:
          Block<3, 4>(a, row, m, panel, panels, relu, out);
          break;
        case 4:
          Block<4, 2>(a, row, m, panel, panels, relu, out);
          break;
        case 5:
          Block<5, 2>(a, row, m, panel, panels, relu, out);
          break;
        default:
          Block<6, 2>(a, row, m, panel, panels, relu, out);
          break;
      }
      row += count;
    }
  }
}

// Returns the even and the odd groups of four bytes of two vectors.
inline SplitBytes Split(const uint8_t* activations) {
  const __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
  const __m512i odd = _mm512_add_epi32(even, _mm512_set1_epi32(1));
  const __m512i first = _mm512_loadu_si512(activations);
  const __m512i second = _mm512_loadu_si512(activations + 64);
  return {_mm512_permutex2var_epi32(first, even, second),
          _mm512_permutex2var_epi32(first, odd, second)};
}

}  // namespace

const IntegerKernels kAvx512VnniInteger = {
    "avx512_vnni", Target::kAvx512Vnni, Quantise, Multiply, Logits<Split>, Attend, AddNorm, Ssru};

}  // namespace millrace::kernels
