// The kernels of float_kernels.h, compiled for each instruction set. Include it after the
// definitions of MILLRACE_VECTOR_BYTES and of MILLRACE_TILE_ROWS, the number of rows times two
// vectors of sums that fit into the registers.

#include <cstdint>

#include "models/kernels/float_kernels.h"
#include "models/kernels/vector_math.inl"

namespace millrace::kernels {
namespace {

constexpr int64_t kTileVectors = 2;
constexpr int64_t kTileColumns = kTileVectors * kLanes;
constexpr int64_t kLineFloats = 16;
constexpr int64_t kPanelLines = kFloatPanel / kLineFloats;  // for each input

// Memory that is prefetched meanwhile: lines of 16 floats, this many for each input.
struct Ahead {
  const float* from;
  int64_t lines;
};

// Computes kRows rows times kTileColumns columns with all sums in registers.
template <int kRows>
void FloatTile(const FloatProduct& p, int64_t row, int64_t column, Ahead ahead) {
  const float* a = p.a + row * p.a_stride;
  const int64_t stride = p.a_stride;
  const float* b = p.panels + column / kFloatPanel * kFloatPanel * p.inputs + column % kFloatPanel;
  Floats sums[kRows][kTileVectors];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
    for (int v = 0; v < kTileVectors; ++v) sums[r][v] = Load(p.bias + column + v * kLanes);
  }
  for (int64_t k = 0; k < p.inputs; ++k, b += kFloatPanel) {
    for (int64_t line = 0; line < ahead.lines; ++line, ahead.from += kLineFloats)
      __builtin_prefetch(ahead.from, 0, 2);
    Floats weights[kTileVectors];
#pragma GCC unroll 2
    for (int v = 0; v < kTileVectors; ++v) weights[v] = Load(b + v * kLanes);
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      const Floats x = Broadcast(a[r * stride + k]);
#pragma GCC unroll 2
      for (int v = 0; v < kTileVectors; ++v) sums[r][v] += x * weights[v];
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
    for (int v = 0; v < kTileVectors; ++v) {
      Store(p.out + (row + r) * p.out_stride + column + v * kLanes, sums[r][v]);
    }
  }
}

template <int kRows>
void FloatTileOf(const FloatProduct& p, int64_t rows, int64_t row, int64_t column, Ahead ahead) {
  if constexpr (kRows == 1) {
    FloatTile<1>(p, row, column, ahead);
  } else if (rows == kRows) {
    FloatTile<kRows>(p, row, column, ahead);
  } else {
    FloatTileOf<kRows - 1>(p, rows, row, column, ahead);
  }
}

void Multiply(const FloatProduct& p) {
  // Tiles have about equal heights, so that the last one does not have a single row.
  const int64_t tiles = (p.rows + MILLRACE_TILE_ROWS - 1) / MILLRACE_TILE_ROWS;
  for (int64_t column = 0; column < p.outputs; column += kFloatPanel) {
    // The next panel is prefetched while this one is used, a share of its lines with each tile.
    const bool more = column + kFloatPanel < p.outputs;
    const float* next = p.panels + (column + kFloatPanel) * p.inputs;
    const int64_t pieces = tiles * (kFloatPanel / kTileColumns);
    int64_t piece = 0;
    for (int64_t tile = 0; tile < tiles; ++tile) {
      const int64_t row = tile * p.rows / tiles;
      const int64_t rows = (tile + 1) * p.rows / tiles - row;
      for (int64_t part = 0; part < kFloatPanel; part += kTileColumns, ++piece) {
        const int64_t line = piece * kPanelLines / pieces;
        const int64_t lines = more ? (piece + 1) * kPanelLines / pieces - line : 0;
        FloatTileOf<MILLRACE_TILE_ROWS>(p, rows, row, column + part,
                                        {next + line * kLineFloats * p.inputs, lines});
      }
    }
  }
}

inline float DotProduct(const float* x, const float* y, int64_t count) {
  Floats sum = {};
  for (int64_t i = 0; i < count; i += kLanes) sum += Load(x + i) * Load(y + i);
  return Sum(sum);
}

// Prefetches floats that are read soon. They lie far from the previous ones, so the CPU does not
// predict them.
inline void Fetch(const float* p, int64_t count) {
  for (int64_t i = 0; i < count; i += kLineFloats) __builtin_prefetch(p + i);
}

constexpr int kTokensTogether = 4;

// Adds the weighted values of so many tokens from j on, one after the other, so that the sums do
// not depend on how many are added at once.
template <int kTokens>
void AddValues(const FloatAttention& a, int64_t pitch, int64_t j) {
  const int64_t dim = a.heads * a.size;
  const float* values[kTokens];
#pragma GCC unroll 4
  for (int t = 0; t < kTokens; ++t) {
    values[t] = a.tokens[j + t] + a.value;
    if (j + kTokens + t < a.count) Fetch(a.tokens[j + kTokens + t] + a.value, dim);
  }
  for (int64_t head = 0; head < a.heads; ++head) {
    Floats weights[kTokens];
#pragma GCC unroll 4
    for (int t = 0; t < kTokens; ++t) weights[t] = Broadcast(a.scores[head * pitch + j + t]);
    for (int64_t i = head * a.size; i < (head + 1) * a.size; i += kLanes) {
      Floats sum = Load(a.out + i);
#pragma GCC unroll 4
      for (int t = 0; t < kTokens; ++t) sum += Load(values[t] + i) * weights[t];
      Store(a.out + i, sum);
    }
  }
}

void AttendFloat(const FloatAttention& a) {
  const float scale = 1.0F / __builtin_sqrtf(static_cast<float>(a.size));
  const int64_t pitch = PadScores(a.count);
  const int64_t dim = a.heads * a.size;
  // Loops over tokens, then over heads, because a token's key or value is contiguous.
  for (int64_t j = 0; j < a.count; ++j) {
    if (j + 1 < a.count) Fetch(a.tokens[j + 1] + a.key, dim);
    const float* key = a.tokens[j] + a.key;
    for (int64_t head = 0; head < a.heads; ++head) {
      const int64_t offset = head * a.size;
      a.scores[head * pitch + j] = DotProduct(a.query + offset, key + offset, a.size) * scale;
    }
  }
  Fetch(a.tokens[0] + a.value, dim);
  for (int64_t head = 0; head < a.heads; ++head) {
    Softmax(a.scores + head * pitch, a.count, pitch);
  }
  for (int64_t i = 0; i < dim; i += kLanes) Store(a.out + i, Floats{});
  int64_t j = 0;
  for (; j + kTokensTogether <= a.count; j += kTokensTogether)
    AddValues<kTokensTogether>(a, pitch, j);
  for (; j < a.count; ++j) AddValues<1>(a, pitch, j);
}

void Norm(const float* x, int64_t rows, int64_t dim, const float* scale, const float* bias,
          float epsilon, float* out) {
  for (int64_t row = 0; row < rows; ++row, x += dim, out += dim) {
    Floats total = {};
    for (int64_t i = 0; i < dim; i += kLanes) total += Load(x + i);
    const Floats mean = Broadcast(Sum(total) / static_cast<float>(dim));
    Floats squares = {};
    for (int64_t i = 0; i < dim; i += kLanes) {
      const Floats centred = Load(x + i) - mean;
      squares += centred * centred;
    }
    const float variance = Sum(squares) / static_cast<float>(dim);
    const Floats inverse = Broadcast(1.0F / __builtin_sqrtf(variance + epsilon));
    for (int64_t i = 0; i < dim; i += kLanes) {
      Store(out + i, (Load(x + i) - mean) * inverse * Load(scale + i) + Load(bias + i));
    }
  }
}

void Add(const float* y, int64_t count, float* x) {
  for (int64_t i = 0; i < count; i += kLanes) Store(x + i, Load(x + i) + Load(y + i));
}

void Relu(float* x, int64_t count) {
  for (int64_t i = 0; i < count; i += kLanes) Store(x + i, Max(Load(x + i), Floats{}));
}

void Swish(float* x, int64_t count) {
  for (int64_t i = 0; i < count; i += kLanes) {
    const Floats v = Load(x + i);
    Store(x + i, v / (1.0F + Exp(-v)));
  }
}

float LogSumExp(const float* x, int64_t count) {
  float top = x[0];
  const int64_t whole = count / kLanes * kLanes;
  if (whole > 0) {
    Floats largest = Load(x);
    for (int64_t i = kLanes; i < whole; i += kLanes) largest = Max(largest, Load(x + i));
    top = Largest(largest);
  }
  for (int64_t i = whole; i < count; ++i) top = x[i] > top ? x[i] : top;
  Floats total = {};
  for (int64_t i = 0; i < whole; i += kLanes) total += Exp(Load(x + i) - top);
  float sum = Sum(total);
  if (whole < count) {
    Floats rest = Broadcast(-1e30F);
    for (int64_t i = whole; i < count; ++i) rest[i - whole] = x[i] - top;
    rest = Exp(rest);
    for (int64_t i = whole; i < count; ++i) sum += rest[i - whole];
  }
  return top + __builtin_logf(sum);
}

int64_t Argmax(const float* x, int64_t count) {
  constexpr int64_t kBlock = 512;
  constexpr int64_t kChains = 4;  // independent chains of maxima
  const float lowest = -__builtin_inff();
  float top = lowest;
  int64_t best = 0;  // the first block that has it
  for (int64_t begin = 0; begin < count; begin += kBlock) {
    const int64_t end = begin + kBlock < count ? begin + kBlock : count;
    Floats largest[kChains];
    for (Floats& chain : largest) chain = Broadcast(lowest);
    int64_t i = begin;
    for (; i + kChains * kLanes <= end; i += kChains * kLanes) {
      for (int64_t c = 0; c < kChains; ++c) largest[c] = Max(Load(x + i + c * kLanes), largest[c]);
    }
    float of_block = Largest(Max(Max(largest[0], largest[1]), Max(largest[2], largest[3])));
    for (; i < end; ++i) of_block = x[i] > of_block ? x[i] : of_block;
    if (of_block > top) {
      top = of_block;
      best = begin;
    }
  }
  for (int64_t i = best; i < count; ++i) {
    if (x[i] == top) return i;
  }
  return 0;
}

// Makes a set of the kernels above.
constexpr FloatKernels MakeSet(const char* name, Target target) {
  return {
      .name = name,
      .target = target,
      .multiply = &Multiply,
      .attend = &AttendFloat,
      .norm = &Norm,
      .add = &Add,
      .relu = &Relu,
      .swish = &Swish,
      .log_sum_exp = &LogSumExp,
      .argmax = &Argmax,
  };
}

}  // namespace
}  // namespace millrace::kernels
