// Products of bfloat16 numbers for CPUs without them: a bfloat16 has the bits of the upper half of
// a float32. Included after narrow_kernels.inl.

namespace millrace::kernels {
namespace {

struct Pair {
  Floats first, second;
};

inline Pair Widen(Ints pairs) { return {FromBits(pairs << 16), FromBits(pairs & ~0xFFFF)}; }

// Computes kRows rows times half a panel.
template <int kRows>
void WidenedTile(const NarrowProduct& p, int64_t row, int64_t column) {
  Floats sums[kRows][kHalfVectors];
  for (int r = 0; r < kRows; ++r) {
    for (int64_t v = 0; v < kHalfVectors; ++v) sums[r][v] = Load(p.bias + column + v * kLanes);
  }
  for (int64_t at = 0; at < p.depth; at += kGroupBytes) {
    const unsigned char* line = p.panels + NarrowOffset(column, at, p.depth);
    Pair weights[kHalfVectors];
    for (int64_t v = 0; v < kHalfVectors; ++v) {
      Ints pairs;
      __builtin_memcpy(&pairs, line + v * MILLRACE_VECTOR_BYTES, sizeof(pairs));
      weights[v] = Widen(pairs);
    }
    for (int r = 0; r < kRows; ++r) {
      int32_t pair;
      __builtin_memcpy(&pair, p.a + (row + r) * p.depth + at, sizeof(pair));
      const Pair x = Widen(Ints{} + pair);
      for (int64_t v = 0; v < kHalfVectors; ++v) {
        sums[r][v] += x.first * weights[v].first;
        sums[r][v] += x.second * weights[v].second;
      }
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int64_t v = 0; v < kHalfVectors; ++v)
      Store(p.out + (row + r) * p.out_stride + column + v * kLanes, sums[r][v]);
  }
}

void MultiplyWidened(const NarrowProduct& p) {
  constexpr int kRows = 4;
  for (int64_t column = 0; column < p.outputs; column += kNarrowHalf) {
    int64_t row = 0;
    for (; row + kRows <= p.rows; row += kRows) WidenedTile<kRows>(p, row, column);
    for (; row < p.rows; ++row) WidenedTile<1>(p, row, column);
  }
}

}  // namespace
}  // namespace millrace::kernels
