#include <immintrin.h>

#include <algorithm>

#define MILLRACE_VECTOR_BYTES 64
#include "models/kernels/integer_kernels.inl"
#include "models/kernels/integer_vnni.inl"
#include "models/kernels/tile_shapes.h"

namespace millrace::kernels {
namespace {

// Layout of activations: the high bytes of 64 of them (see integer_vnni.inl), then their low bytes,
// then the next 64; each is a line of a tile. 64 inputs of a packed panel are a tile in their
// order.
constexpr int64_t kDepth = 64;
constexpr int64_t kTileRows = 16;
constexpr int64_t kPanelsTogether = 2;
// The number of activation rows that stay in the L2 cache beside the weights.
constexpr int64_t kRowsTogether = 4 * kTileRows;

void Quantise(const float* x, int64_t rows, const Activations& out) {
  for (int64_t row = 0; row < rows; ++row, x += out.inputs) {
    const RowScale scale = ScaleOf(x, out.inputs);
    out.scales[row] = scale.scale;
    uint8_t* bytes = out.values + row * 2 * out.inputs;
    const __m512 inverse = _mm512_set1_ps(scale.inverse);
    for (int64_t i = 0; i < out.inputs; i += 16) {
      const auto [high, low] = QuantiseBytes(x + i, inverse);
      uint8_t* line = bytes + i / kDepth * 2 * kDepth + i % kDepth;
      _mm_storeu_si128(reinterpret_cast<__m128i*>(line), high);
      _mm_storeu_si128(reinterpret_cast<__m128i*>(line + kDepth), low);
    }
  }
}

inline SplitBytes Split(const uint8_t* activations) {
  return {_mm512_loadu_si512(activations), _mm512_loadu_si512(activations + kDepth)};
}

// Registers 0 to 3 are the sums of the high and the low bytes with each of two panels; 4 and 5 hold
// the bytes, 6 and 7 the panels.
void Configure(int64_t rows) {
  const auto count = static_cast<unsigned char>(rows);
  TileShapes shapes;
  for (int i = 0; i < 8; ++i) {
    shapes.row_bytes[i] = kDepth;
    shapes.rows[i] = i < 6 ? count : kTileRows;
  }
  _tile_loadconfig(&shapes);
}

inline void Prefetch(const int8_t* tile) {
#pragma GCC unroll 16
  for (int64_t line = 0; line < kTileRows; ++line)
    _mm_prefetch(reinterpret_cast<const char*>(tile + line * kDepth), _MM_HINT_T0);
}

// Multiplies the number of activation rows that Configure set by two panels. ahead: null, or the
// next two panels, which are prefetched meanwhile.
inline void SumTiles(const uint8_t* activations, const PackedView& m, int64_t panel,
                     const int8_t* ahead, int32_t* sums) {
  const int64_t stride = 2 * m.inputs;
  const int8_t* first = m.values + panel * kPanel * m.inputs;
  const int8_t* second = first + kPanel * m.inputs;
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  for (int64_t k = 0; k < m.inputs; k += kDepth) {
    if (ahead != nullptr) {
      Prefetch(ahead + 2 * k * kPanel);
      Prefetch(ahead + (2 * k + kDepth) * kPanel);
    }
    _tile_loadd(4, activations + 2 * k, stride);
    _tile_loadd(5, activations + 2 * k + kDepth, stride);
    _tile_loadd(6, first + k * kPanel, kDepth);
    _tile_dpbusd(0, 4, 6);
    _tile_dpbusd(1, 5, 6);
    _tile_loadd(7, second + k * kPanel, kDepth);
    _tile_dpbusd(2, 4, 7);
    _tile_dpbusd(3, 5, 7);
  }
  constexpr int64_t kPitch = kPanel * sizeof(int32_t);
  constexpr int64_t kTile = kTileRows * kPanel;
  _tile_stored(0, sums, kPitch);
  _tile_stored(1, sums + kTile, kPitch);
  _tile_stored(2, sums + 2 * kTile, kPitch);
  _tile_stored(3, sums + 3 * kTile, kPitch);
  __asm__ volatile("" ::: "memory");  // stores of tiles do not tell the compiler what they write
}

// Stores `rows` rows from `row` on, the number that Configure set.
void StoreTiles(const int32_t* sums, const Activations& a, int64_t row, int64_t rows,
                const PackedView& m, int64_t panel, bool relu, float* out) {
  for (int64_t p = 0; p < kPanelsTogether; ++p) {
    const int64_t column = (panel + p) * kPanel;
    const __m512i correction = _mm512_loadu_si512(m.corrections + column);
    const int32_t* high = sums + 2 * p * kTileRows * kPanel;
    const int32_t* low = high + kTileRows * kPanel;
    for (int64_t r = 0; r < rows; ++r) {
      StoreSums(_mm512_sub_epi32(_mm512_load_si512(high + r * kPanel), correction),
                _mm512_load_si512(low + r * kPanel), a, row + r, m, column, relu, out);
    }
  }
}

// Multiplies up to kRowsTogether rows in tiles of equal height, of which the last may overlap the
// one before it. So the weights are read once for all rows, and the tiles are configured once.
void MultiplyRows(const Activations& a, int64_t row, int64_t rows, const PackedView& m, bool relu,
                  float* out) {
  alignas(64) int32_t sums[2 * kPanelsTogether * kTileRows * kPanel];
  const int64_t tiles = (rows + kTileRows - 1) / kTileRows;
  const int64_t height = (rows + tiles - 1) / tiles;
  Configure(height);
  const int64_t panels = m.outputs / kPanel;
  for (int64_t panel = 0; panel < panels; panel += kPanelsTogether) {
    const int8_t* ahead = panel + kPanelsTogether < panels
                              ? m.values + (panel + kPanelsTogether) * kPanel * m.inputs
                              : nullptr;
    for (int64_t tile = 0; tile < tiles; ++tile) {
      const int64_t first = row + (tile + 1 < tiles ? tile * height : rows - height);
      SumTiles(a.values + first * 2 * m.inputs, m, panel, tile == 0 ? ahead : nullptr, sums);
      StoreTiles(sums, a, first, height, m, panel, relu, out);
    }
  }
}

void Multiply(const Activations& a, int64_t rows, const PackedView& m, bool relu, float* out) {
  __asm__ volatile("" ::: "memory");  // nor do loads of tiles tell what they read
  for (int64_t row = 0; row < rows; row += kRowsTogether)
    MultiplyRows(a, row, std::min(rows - row, kRowsTogether), m, relu, out);
  _tile_release();
}

}  // namespace

const IntegerKernels kAmxInteger = {"amx",         Target::kAmxInt8, Quantise, Multiply,
                                    Logits<Split>, Attend,           AddNorm,  Ssru};

}  // namespace millrace::kernels
