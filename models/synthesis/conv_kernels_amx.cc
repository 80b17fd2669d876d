// Convolutions on the matrix unit of newer Xeons. It multiplies pairs of bfloat16, of 8 bits; each
// float32 is the sum of two of them but for 2^-17 of it, so that three products give one of float32
// that closely: high * high + low * high + high * low. All else is as for AVX-512.

#define MILLRACE_LANES 16
#define MILLRACE_TILE 14
#include <immintrin.h>

#include <new>

#include "models/synthesis/conv_kernels_impl.h"

namespace millrace::models {
namespace {

constexpr int64_t kTileRows = 16;               // of a tile register
constexpr int64_t kTileBytes = 64;              // of its rows: 32 bfloat16 or 16 floats
constexpr int64_t kTileChannels = 32;           // input channels of one
constexpr int64_t kStepBytes = 2 * kTileBytes;  // of those channels of one row: high, then low
constexpr int64_t kWeightTile = kTileRows * kTileBytes;
constexpr int64_t kWeightStep = 4 * kWeightTile;  // high and low of two times 16 output channels
constexpr int64_t kTaskRows = 2 * kTileRows;      // computed together
constexpr int64_t kSplitBytes = 768 * 1024;  // with a block's weights in the second-level cache

// Rows of the input that are split together, with those around them that the taps reach. On the
// heap: thread-local storage is part of every thread's stack, and some threads have little.
class SplitMemory {
 public:
  SplitMemory() = default;
  SplitMemory(const SplitMemory&) = delete;
  SplitMemory& operator=(const SplitMemory&) = delete;
  ~SplitMemory() { operator delete(bytes_, kAlignment); }

  unsigned char* Get() {
    if (bytes_ == nullptr)
      bytes_ = static_cast<unsigned char*>(operator new(kSplitBytes, kAlignment));
    return bytes_;
  }

 private:
  static constexpr std::align_val_t kAlignment{64};
  unsigned char* bytes_ = nullptr;
};
thread_local SplitMemory split_memory;

int64_t Steps(const ConvTask& task) {
  return (task.in_channels + kTileChannels - 1) / kTileChannels;
}

// An odd number of cache lines, so that the rows of a tile do not fall on the same ways.
int64_t SplitPitch(const ConvTask& task) { return Steps(task) * kStepBytes + kTileBytes; }

int64_t Reach(const ConvTask& task) { return (task.taps - 1) * task.dilation; }

// Rows of the output that one split serves.
int64_t RowsOfSplit(const ConvTask& task) {
  const int64_t rows = kSplitBytes / SplitPitch(task) - Reach(task);
  return rows / kTaskRows * kTaskRows;
}

// Not for few channels, which would leave most of the tiles empty, nor for a reach that needs more
// memory than there is.
bool UsesTiles(const ConvTask& task) {
  return task.in_channels > kTileChannels / 2 && RowsOfSplit(task) > 0;
}

typedef uint16_t HalfVec __attribute__((vector_size(kLanes * sizeof(uint16_t))));
typedef uint32_t WideVec __attribute__((vector_size(kLanes * sizeof(uint32_t))));

// The two bfloat16 numbers of each float: the nearest one, and that nearest to what is left.
inline void Split(__m512 values, __m256bh* high, __m256bh* low) {
  *high = _mm512_cvtneps_pbh(values);
  const WideVec bits = __builtin_convertvector(reinterpret_cast<HalfVec>(*high), WideVec) << 16;
  *low = _mm512_cvtneps_pbh(values - reinterpret_cast<__m512>(bits));
}

inline void StoreHalf(unsigned char* to, __m256bh half) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), reinterpret_cast<__m256i>(half));
}

// Input rows first .. first + rows - 1 of the task.
void SplitRows(const ConvTask& task, int64_t first, int64_t rows, unsigned char* split) {
  const int64_t steps = Steps(task);
  const int64_t pitch = SplitPitch(task);
  for (int64_t row = 0; row < rows; ++row) {
    const float* from = task.input + (first + row) * task.input_pitch;
    unsigned char* to = split + row * pitch;
    for (int64_t step = 0; step < steps; ++step, to += kStepBytes) {
      for (int64_t half = 0; half < 2; ++half) {
        const int64_t channel = step * kTileChannels + half * kLanes;
        const int64_t rest = task.in_channels - channel;
        const __mmask16 some = static_cast<__mmask16>(rest >= kLanes ? 0xFFFF
                                                      : rest > 0     ? (1 << rest) - 1
                                                                     : 0);
        __m256bh high;
        __m256bh low;
        Split(_mm512_maskz_loadu_ps(some, from + channel), &high, &low);
        StoreHalf(to + half * (kTileBytes / 2), high);
        StoreHalf(to + kTileBytes + half * (kTileBytes / 2), low);
      }
    }
  }
}

struct alignas(64) TileShapes {
  unsigned char palette = 1;
  unsigned char start_row = 0;
  unsigned char reserved[14] = {};
  unsigned short row_bytes[16] = {};
  unsigned char rows[16] = {};
};

// All eight tile registers at their full size.
void Configure() {
  TileShapes shapes;
  for (int i = 0; i < 8; ++i) {
    shapes.row_bytes[i] = kTileBytes;
    shapes.rows[i] = kTileRows;
  }
  _tile_loadconfig(&shapes);
}

// The sums of 16 or 32 rows of the split, from `row`, and of a block, to rows of kChannelBlock.
template <bool kBoth>
inline void SumTiles(const ConvTask& task, const unsigned char* split, int64_t row, int64_t block,
                     float* sums) {
  const int64_t steps = Steps(task);
  const int64_t pitch = SplitPitch(task);
  const auto* weights = reinterpret_cast<const unsigned char*>(task.weights) +
                        block * task.taps * steps * kWeightStep;
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  for (int64_t tap = 0; tap < task.taps; ++tap) {
    const unsigned char* upper = split + (row + tap * task.dilation) * pitch;
    const unsigned char* lower = upper + kTileRows * pitch;
    for (int64_t step = 0; step < steps; ++step) {
      _tile_loadd(4, upper, pitch);
      _tile_loadd(6, weights, kTileBytes);
      _tile_loadd(7, weights + kWeightTile, kTileBytes);
      _tile_dpbf16ps(0, 4, 6);
      _tile_dpbf16ps(1, 4, 7);
      if (kBoth) {
        _tile_loadd(5, lower, pitch);
        _tile_dpbf16ps(2, 5, 6);
        _tile_dpbf16ps(3, 5, 7);
      }
      _tile_loadd(4, upper + kTileBytes, pitch);
      _tile_dpbf16ps(0, 4, 6);
      _tile_dpbf16ps(1, 4, 7);
      if (kBoth) {
        _tile_loadd(5, lower + kTileBytes, pitch);
        _tile_dpbf16ps(2, 5, 6);
        _tile_dpbf16ps(3, 5, 7);
      }
      _tile_loadd(4, upper, pitch);
      _tile_loadd(6, weights + 2 * kWeightTile, kTileBytes);
      _tile_loadd(7, weights + 3 * kWeightTile, kTileBytes);
      _tile_dpbf16ps(0, 4, 6);
      _tile_dpbf16ps(1, 4, 7);
      if (kBoth) {
        _tile_loadd(5, lower, pitch);
        _tile_dpbf16ps(2, 5, 6);
        _tile_dpbf16ps(3, 5, 7);
      }
      upper += kStepBytes;
      lower += kStepBytes;
      weights += kWeightStep;
    }
  }
  constexpr int64_t kPitch = kChannelBlock * static_cast<int64_t>(sizeof(float));
  _tile_stored(0, sums, kPitch);
  _tile_stored(1, sums + kLanes, kPitch);
  if (kBoth) {
    _tile_stored(2, sums + kTileRows * kChannelBlock, kPitch);
    _tile_stored(3, sums + kTileRows * kChannelBlock + kLanes, kPitch);
  }
}

void ConvolveSplit(const ConvTask& task, const unsigned char* split, int64_t first, int64_t rows) {
  alignas(64) float sums[kTaskRows * kChannelBlock];
  for (int64_t block = 0; block < task.blocks; ++block) {
    for (int64_t row = 0; row < rows; row += kTaskRows) {
      const int64_t some = rows - row < kTaskRows ? rows - row : kTaskRows;
      if (some > kTileRows) {
        SumTiles<true>(task, split, row, block, sums);
      } else {
        SumTiles<false>(task, split, row, block, sums);
      }
      for (int64_t i = 0; i < some; ++i) {
        Vec values[kVectors];
        for (int j = 0; j < kVectors; ++j) values[j] = Load(sums + i * kChannelBlock + j * kLanes);
        Finish(task, first + row + i, block, values);
      }
    }
  }
}

int64_t PackedSizeForTiles(const ConvTask& task) {
  if (!UsesTiles(task)) return PackedSize(task);
  return task.blocks * task.taps * Steps(task) * kWeightStep / static_cast<int64_t>(sizeof(float));
}

// [block][tap][step][high, low][16 output channels of two][pair of input channels][output channel]
// [of the pair].
void PackForTiles(const ConvTask& task, float* packed) {
  if (!UsesTiles(task)) {
    Pack(task, packed);
    return;
  }
  auto* to = reinterpret_cast<unsigned char*>(packed);
  for (int64_t i = 0; i < task.blocks * task.taps; ++i) {
    const float* from = task.weights + i * task.in_channels * kChannelBlock;
    for (int64_t step = 0; step < Steps(task); ++step, to += kWeightStep) {
      for (int64_t channel = 0; channel < kTileChannels; ++channel) {
        const int64_t in = step * kTileChannels + channel;
        for (int64_t half = 0; half < 2; ++half) {
          const __m512 values = in < task.in_channels
                                    ? _mm512_loadu_ps(from + in * kChannelBlock + half * kLanes)
                                    : _mm512_setzero_ps();
          __m256bh parts[2];
          Split(values, &parts[0], &parts[1]);
          for (int64_t part = 0; part < 2; ++part) {
            short lanes[kLanes];
            StoreHalf(reinterpret_cast<unsigned char*>(lanes), parts[part]);
            auto* tile = reinterpret_cast<short*>(to + (2 * part + half) * kWeightTile);
            for (int64_t lane = 0; lane < kLanes; ++lane)
              tile[(channel / 2 * kLanes + lane) * 2 + channel % 2] = lanes[lane];
          }
        }
      }
    }
  }
}

void ConvolveOnTiles(const ConvTask& task) {
  if (!UsesTiles(task)) {
    Convolve(task);
    return;
  }
  unsigned char* const split = split_memory.Get();
  Configure();
  const int64_t step = RowsOfSplit(task);
  for (int64_t first = 0; first < task.rows; first += step) {
    const int64_t rows = task.rows - first < step ? task.rows - first : step;
    SplitRows(task, first, rows + Reach(task), split);
    ConvolveSplit(task, split, first, rows);
  }
  _tile_release();
}

}  // namespace

extern const ConvKernels kConvKernelsAmx;
const ConvKernels kConvKernelsAmx = {"amx",         1.6e-5F,          &PackedSizeForTiles,
                                     &PackForTiles, &ConvolveOnTiles, &TanhDot,
                                     &Snake,        &Moments};

}  // namespace millrace::models
