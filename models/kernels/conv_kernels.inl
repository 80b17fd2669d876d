// Each file of an instruction set includes this after it has defined MILLRACE_LANES (floats of a
// vector register) and the tile whose sums fit into the registers: MILLRACE_TILE rows by
// MILLRACE_PANEL output channels. It makes its table of kernels from this file, which includes no
// other headers; conv_kernels.h says why.
//
// Where a panel is a whole block of channels, a tile uses each weight so often that the L2 cache
// delivers them in time. Narrower tiles are blocked as in BLIS: a part of a panel's weights that
// fits into the L1 cache serves some hundred rows, whose inputs fit into the L2 cache, before the
// next part is read.

#include <cstddef>
#include <new>

#include "models/kernels/conv_kernels.h"

namespace millrace::kernels {
namespace {

constexpr int kLanes = MILLRACE_LANES;
constexpr int kVectors = static_cast<int>(kChannelBlock) / kLanes;
constexpr int kTile = MILLRACE_TILE;
constexpr int kPanel = MILLRACE_PANEL;
constexpr int kPanelVectors = kPanel / kLanes;
// The products of a sum between two visits to its tile, so that a panel's weights for them take 16
// KiB, half of a small L1 cache.
constexpr int64_t kDepth = 4096 / kPanel;
constexpr int64_t kLineFloats = 16;  // the floats of a cache line
constexpr int64_t kTilesTogether = 96 / kTile;

typedef float Vec __attribute__((vector_size(kLanes * sizeof(float))));
typedef float UnalignedVec
    __attribute__((vector_size(kLanes * sizeof(float)), aligned(sizeof(float)), may_alias));
typedef int32_t IntVec __attribute__((vector_size(kLanes * sizeof(int32_t))));

inline Vec Load(const float* from) { return *reinterpret_cast<const UnalignedVec*>(from); }
inline void Store(float* to, Vec value) { *reinterpret_cast<UnalignedVec*>(to) = value; }
inline Vec Splat(float value) { return value - Vec{}; }
inline Vec Max(Vec a, Vec b) { return a > b ? a : b; }
inline Vec Min(Vec a, Vec b) { return a < b ? a : b; }

// Computes e^x to about 2 units in the last place, for x clamped to -87 .. 88.
inline Vec Exp(Vec x) {
  x = Min(Max(x, Splat(-87.0F)), Splat(88.0F));
  // Adding 1.5 * 2^23 rounds to a whole number, which the low bits then hold.
  const Vec shifted = x * 1.44269504F + 12582912.0F;
  const Vec n = shifted - 12582912.0F;
  const Vec r = (x - n * 0.693359375F) + n * 2.12194440e-4F;
  Vec p = Splat(1.9875691500e-4F);
  p = p * r + 1.3981999507e-3F;
  p = p * r + 8.3334519073e-3F;
  p = p * r + 4.1665795894e-2F;
  p = p * r + 1.6666665459e-1F;
  p = p * r + 5.0000001201e-1F;
  p = p * r * r + r + 1.0F;
  const IntVec exponent = (reinterpret_cast<IntVec>(shifted) - 0x4B400000) << 23;
  return reinterpret_cast<Vec>(reinterpret_cast<IntVec>(p) + exponent);
}

inline Vec Sigmoid(Vec x) { return 1.0F / (1.0F + Exp(-x)); }
inline Vec Tanh(Vec x) { return 1.0F - 2.0F / (1.0F + Exp(x + x)); }

inline void StoreGated(const ConvTask& task, int64_t row, int64_t block, const Vec* values) {
  for (int j = 0; j < kVectors / 2; ++j) {
    const Vec gated = Tanh(values[j]) * Sigmoid(values[j + kVectors / 2]);
    Store(task.raw + row * task.output_pitch + block * (kChannelBlock / 2) + j * kLanes, gated);
  }
}

inline void Finish(const ConvTask& task, int64_t row, int64_t block, Vec* values) {
  const int64_t at = row * task.output_pitch + block * kChannelBlock;
#pragma GCC unroll 8
  for (int j = 0; j < kVectors; ++j) {
    Vec v = values[j] + Load(task.bias + block * kChannelBlock + j * kLanes);
    if (task.gate) {
      values[j] = v;
      continue;
    }
    if (task.residual != nullptr) v += Load(task.residual + at + j * kLanes);
    if (task.partial != nullptr) v += Load(task.partial + at + j * kLanes);
    v *= task.scale;
    if (task.raw != nullptr) Store(task.raw + at + j * kLanes, v);
    if (task.active != nullptr) Store(task.active + at + j * kLanes, Max(v, v * task.slope));
  }
  if (task.gate) StoreGated(task, row, block, values);
}

void FinishSums(const ConvTask& task, const float* sums) {
  for (int64_t row = 0; row < task.rows; ++row) {
    for (int64_t block = 0; block < task.blocks; ++block, sums += kChannelBlock) {
      Vec values[kVectors];
      for (int j = 0; j < kVectors; ++j) values[j] = Load(sums + j * kLanes);
      Finish(task, row, block, values);
    }
  }
}

// A part of the sums of a panel: some taps, and some input channels of each.
struct DepthPart {
  const float* input;    // the input of row 0
  const float* weights;  // [tap][channel][kPanel]
  int64_t pitch;         // the pitch of rows of inputs
  int64_t tap_pitch;
  int64_t taps;
  int64_t channels;
  bool first;          // there are no sums yet
  const float* ahead;  // is fetched meanwhile
};

// Adds the products of one input channel to the sums of a tile, which stay in registers.
template <int kRows>
inline __attribute__((always_inline)) void AddChannel(const float* input, int64_t pitch,
                                                      const float* weights,
                                                      Vec (&tile)[kRows][kPanelVectors]) {
  Vec w[kPanelVectors];
#pragma GCC unroll 8
  for (int j = 0; j < kPanelVectors; ++j) w[j] = Load(weights + j * kLanes);
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
    const Vec x = Splat(input[i * pitch]);
#pragma GCC unroll 8
    for (int j = 0; j < kPanelVectors; ++j) tile[i][j] += x * w[j];
  }
}

// Adds the products of a part. kFetches: a line of part.ahead is fetched with every four channels.
template <bool kFetches, int kRows>
inline __attribute__((always_inline)) void AddProducts(const DepthPart& part, int64_t row,
                                                       Vec (&tile)[kRows][kPanelVectors]) {
  constexpr int64_t kChannels = 4;
  const float* weights = part.weights;
  const float* ahead = part.ahead;
  for (int64_t tap = 0; tap < part.taps; ++tap) {
    const float* input = part.input + row * part.pitch + tap * part.tap_pitch;
    int64_t c = 0;
    if constexpr (kFetches) {
      for (; c + kChannels <= part.channels; c += kChannels, ahead += kLineFloats) {
        __builtin_prefetch(ahead, 0, 2);
#pragma GCC unroll 4
        for (int64_t i = 0; i < kChannels; ++i, weights += kPanel)
          AddChannel(input + c + i, part.pitch, weights, tile);
      }
    }
#pragma GCC unroll 4
    for (; c < part.channels; ++c, weights += kPanel)
      AddChannel(input + c, part.pitch, weights, tile);
  }
}

// Adds a part to the sums of kRows rows in memory, which lie kChannelBlock apart.
template <int kRows>
void AddTile(const DepthPart& part, int64_t row, float* sums) {
  Vec tile[kRows][kPanelVectors];
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 8
    for (int j = 0; j < kPanelVectors; ++j)
      tile[i][j] = part.first ? Vec{} : Load(sums + i * kChannelBlock + j * kLanes);
  }
  AddProducts<true>(part, row, tile);
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 8
    for (int j = 0; j < kPanelVectors; ++j)
      Store(sums + i * kChannelBlock + j * kLanes, tile[i][j]);
  }
}

// Computes kRows rows of a block from all of their products.
template <int kRows>
void ConvolveTile(const ConvTask& task, const DepthPart& all, int64_t row, int64_t block) {
  Vec tile[kRows][kPanelVectors];
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 8
    for (int j = 0; j < kPanelVectors; ++j) tile[i][j] = Vec{};
  }
  AddProducts<false>(all, row, tile);
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) Finish(task, row + i, block, tile[i]);
}

// Calls call<rows>(), for rows from 1 to kMost.
template <int kMost, typename Call>
inline void CallWithRows(int64_t rows, const Call& call) {
  if constexpr (kMost == 1) {
    call.template operator()<1>();
  } else if (rows == kMost) {
    call.template operator()<kMost>();
  } else {
    CallWithRows<kMost - 1>(rows, call);
  }
}

int64_t DirectPackedSize(const ConvTask& task) {
  return task.blocks * task.taps * task.in_channels * kChannelBlock;
}

// [block][panel][tap][in channel][kPanel].
void PackDirectly(const ConvTask& task, float* packed) {
  const int64_t depth = task.taps * task.in_channels;
  for (int64_t block = 0; block < task.blocks; ++block) {
    const float* from = task.weights + block * depth * kChannelBlock;
    for (int64_t panel = 0; panel < kChannelBlock; panel += kPanel) {
      for (int64_t i = 0; i < depth; ++i) {
        for (int64_t o = 0; o < kPanel; ++o) *packed++ = from[i * kChannelBlock + panel + o];
      }
    }
  }
}

// Rows in as few tiles as there can be, of about equal height, so that the last one is not much
// lower. A division for each tile would take as long as some of the products.
struct Tiles {
  explicit Tiles(int64_t rows)
      : count((rows + kTile - 1) / kTile),
        height(count > 0 ? rows / count : 0),
        taller(rows - height * count) {}

  int64_t Begin(int64_t tile) const { return tile * height + (tile < taller ? tile : taller); }

  const int64_t count;
  const int64_t height;
  const int64_t taller;  // so many, which come first, have a row more
};

// Computes the sums of a panel for the rows of the tiles first .. last - 1.
void SumPanel(const ConvTask& task, const Tiles& tiles, int64_t first, int64_t last,
              const float* weights, float* sums) {
  // A part has whole taps, or else an equal share of one.
  const int64_t taps = task.in_channels < kDepth ? kDepth / task.in_channels : 1;
  const int64_t shares = (task.in_channels + kDepth - 1) / kDepth;
  const int64_t channels = (task.in_channels + shares - 1) / shares;
  const int64_t begin = tiles.Begin(first);
  DepthPart part;
  part.weights = weights;
  part.pitch = task.input_pitch;
  part.tap_pitch = task.dilation * task.input_pitch;
  part.first = true;
  for (int64_t tap = 0; tap < task.taps; tap += taps) {
    part.taps = task.taps - tap < taps ? task.taps - tap : taps;
    for (int64_t c = 0; c < task.in_channels; c += channels) {
      part.channels = task.in_channels - c < channels ? task.in_channels - c : channels;
      part.input = task.input + tap * part.tap_pitch + c;
      // The next part is about as large and lies behind this one. Each tile fetches a share of it,
      // bit by bit, because many lines at once would wait for each other.
      const float* const next = part.weights + part.taps * part.channels * kPanel;
      const int64_t step = (next - part.weights) / (last - first);
      part.ahead = next;
      for (int64_t tile = first; tile < last; ++tile, part.ahead += step) {
        const int64_t row = tiles.Begin(tile);
        CallWithRows<kTile>(tiles.Begin(tile + 1) - row, [&]<int kRows>() {
          AddTile<kRows>(part, row, sums + (row - begin) * kChannelBlock);
        });
      }
      part.weights = next;
      part.first = false;
    }
  }
}

// Convolves with panels of whole blocks. An instruction set uses this function or the next one.
[[maybe_unused]] void ConvolveWholeSums(const ConvTask& task) {
  DepthPart all = {};
  all.input = task.input;
  all.weights = task.weights;
  all.pitch = task.input_pitch;
  all.tap_pitch = task.dilation * task.input_pitch;
  all.taps = task.taps;
  all.channels = task.in_channels;
  all.first = true;
  for (int64_t block = 0; block < task.blocks; ++block) {
    for (int64_t row = 0; row < task.rows; row += kTile) {
      CallWithRows<kTile>(task.rows - row < kTile ? task.rows - row : kTile,
                          [&]<int kRows>() { ConvolveTile<kRows>(task, all, row, block); });
    }
    all.weights += task.taps * task.in_channels * kPanel;
  }
}

// Convolves with panels that are narrower than a block.
[[maybe_unused]] void ConvolveInParts(const ConvTask& task) {
  const Tiles tiles(task.rows);
  alignas(64) float sums[kTilesTogether * kTile * kChannelBlock];
  const int64_t depth = task.taps * task.in_channels;
  for (int64_t first = 0; first < tiles.count; first += kTilesTogether) {
    const int64_t last =
        tiles.count - first < kTilesTogether ? tiles.count : first + kTilesTogether;
    const int64_t begin = tiles.Begin(first);
    const int64_t end = tiles.Begin(last);
    const float* weights = task.weights;
    for (int64_t block = 0; block < task.blocks; ++block) {
      for (int64_t panel = 0; panel < kChannelBlock; panel += kPanel, weights += depth * kPanel)
        SumPanel(task, tiles, first, last, weights, sums + panel);
      for (int64_t row = begin; row < end; ++row) {
        Vec values[kVectors];
        for (int j = 0; j < kVectors; ++j)
          values[j] = Load(sums + (row - begin) * kChannelBlock + j * kLanes);
        Finish(task, row, block, values);
      }
    }
  }
}

void ConvolveDirectly(const ConvTask& task) {
  if constexpr (kPanel == kChannelBlock) {
    ConvolveWholeSums(task);
  } else {
    ConvolveInParts(task);
  }
}

// Memory of a thread. It is on the heap, because thread-local storage is part of every thread's
// stack, and some threads have little.
class ThreadMemory {
 public:
  ThreadMemory() = default;
  ThreadMemory(const ThreadMemory&) = delete;
  ThreadMemory& operator=(const ThreadMemory&) = delete;
  ~ThreadMemory() { operator delete(memory_, kAlignment); }

  // Returns memory for so many floats, aligned to 64 bytes, until the next call.
  float* Take(int64_t floats) {
    if (floats > size_) {
      operator delete(memory_, kAlignment);
      memory_ = nullptr;
      size_ = 0;
      memory_ = static_cast<float*>(operator new(static_cast<size_t>(floats) * sizeof(float),
                                                 kAlignment));
      size_ = floats;
    }
    return memory_;
  }

 private:
  static constexpr std::align_val_t kAlignment{64};
  float* memory_ = nullptr;
  int64_t size_ = 0;
};

}  // namespace
}  // namespace millrace::kernels

#include "models/kernels/winograd.inl"

namespace millrace::kernels {
namespace {

int64_t PackedSize(const ConvTask& task) {
  if (!HasWinogradForm(task)) return DirectPackedSize(task);
  return WithWinograd(task, [&](auto winograd) { return winograd.PackedSize(task); });
}

void Pack(const ConvTask& task, float* packed) {
  if (!HasWinogradForm(task)) return PackDirectly(task, packed);
  WithWinograd(task, [&](auto winograd) { winograd.Pack(task, packed); });
}

void Convolve(const ConvTask& task) {
  if (!HasWinogradForm(task)) return ConvolveDirectly(task);
  WithWinograd(task, [&](auto winograd) { winograd.Convolve(task); });
}

void TanhDot(const float* input, int64_t pitch, const float* weights, int64_t count, float bias,
             float* output, int64_t rows) {
  for (int64_t row = 0; row < rows; row += kLanes) {
    const int64_t some = rows - row < kLanes ? rows - row : kLanes;
    Vec dots = {};
    for (int64_t i = 0; i < some; ++i) {
      const float* from = input + (row + i) * pitch;
      Vec sums = {};
      for (int64_t at = 0; at < count; at += kLanes) sums += Load(from + at) * Load(weights + at);
      float dot = bias;
      for (int lane = 0; lane < kLanes; ++lane) dot += sums[lane];
      dots[i] = dot;
    }
    const Vec values = Tanh(dots);
    for (int64_t i = 0; i < some; ++i) output[row + i] = values[i];
  }
}

// Computes sin(x)^2 to about 1e-7, for |x| below 10^6. The sign of the sine, and so the parity of
// the multiple of pi that is subtracted, does not matter.
inline Vec SquaredSine(Vec x) {
  // Adding 1.5 * 2^23 rounds to a whole number.
  const Vec n = (x * 0.318309886F + 12582912.0F) - 12582912.0F;
  const Vec r = ((x - n * 3.140625F) - n * 9.67502594e-4F) - n * 1.50995799e-7F;
  const Vec r2 = r * r;
  Vec p = Splat(-2.50521084e-8F);
  p = p * r2 + 2.75573192e-6F;
  p = p * r2 - 1.98412698e-4F;
  p = p * r2 + 8.33333333e-3F;
  p = p * r2 - 1.66666667e-1F;
  p = p * r2 * r + r;
  return p * p;
}

void Snake(const SnakeTask& task) {
  // In the order of memory, which is read ahead.
  for (int64_t row = 0; row < task.rows; ++row) {
    const float* const input = task.input + row * task.channels;
    float* const output = task.output + row * task.channels;
    for (int64_t c = 0; c < task.channels; c += kLanes) {
      const Vec y = Load(input + c) * Load(task.scale + c) + Load(task.shift + c);
      Store(output + c, y + SquaredSine(Load(task.alpha + c) * y) * Load(task.inverse_alpha + c));
    }
  }
}

// Computes the moments of kCount vectors of channels at once, because the sums of one would wait
// for each other.
template <int kCount>
inline void MomentsOf(const float* input, int64_t rows, int64_t channels, const float* center,
                      float* sums, float* squares) {
  Vec sum[kCount] = {};
  Vec square[kCount] = {};
  for (int64_t row = 0; row < rows; ++row) {
#pragma GCC unroll 4
    for (int i = 0; i < kCount; ++i) {
      const Vec off = Load(input + row * channels + i * kLanes) - Load(center + i * kLanes);
      sum[i] += off;
      square[i] += off * off;
    }
  }
  for (int i = 0; i < kCount; ++i) {
    Store(sums + i * kLanes, sum[i]);
    Store(squares + i * kLanes, square[i]);
  }
}

void Moments(const float* input, int64_t rows, int64_t channels, const float* center, float* sums,
             float* squares) {
  constexpr int kTogether = 4;
  int64_t c = 0;
  for (; c + kTogether * kLanes <= channels; c += kTogether * kLanes)
    MomentsOf<kTogether>(input + c, rows, channels, center + c, sums + c, squares + c);
  for (; c < channels; c += kLanes)
    MomentsOf<1>(input + c, rows, channels, center + c, sums + c, squares + c);
}

}  // namespace
}  // namespace millrace::kernels
