// Convolutions on the matrix unit of newer Xeons (AMX), which multiplies bfloat16 numbers of 8
// bits. A float32 is the sum of two of them up to 2^-17 of it, so that three products are one
// float32 product to that precision: high * high + low * high + high * low. It is the sum of three
// up to 2^-25, which takes six products. Everything else is as for AVX-512.

#define MILLRACE_LANES 16
#define MILLRACE_TILE 14
#define MILLRACE_PANEL 32
#include <immintrin.h>

#include "models/kernels/conv_kernels.inl"
#include "models/kernels/tile_shapes.h"

namespace millrace::kernels {
namespace {

constexpr int64_t kTileRows = 16;      // the rows of a tile register
constexpr int64_t kTileBytes = 64;     // the bytes of its rows: 32 bfloat16 or 16 floats
constexpr int64_t kTileChannels = 32;  // input channels of one
constexpr int64_t kWeightTile = kTileRows * kTileBytes;
constexpr int64_t kTaskRows = 2 * kTileRows;          // computed together
constexpr int64_t kSplitBytes = int64_t{768} * 1024;  // fits into L2 with a block's weights

// Input rows that are split together, with those around them that the taps reach.
thread_local ThreadMemory split_memory;

int64_t Steps(const ConvTask& task) {
  return (task.in_channels + kTileChannels - 1) / kTileChannels;
}

// The number of bfloat16 parts of a float32, the highest first.
int64_t Parts(const ConvTask& task) { return task.exact ? 3 : 2; }

// The bytes of 32 input channels of a row, one part after the other.
int64_t StepBytes(const ConvTask& task) { return Parts(task) * kTileBytes; }

// The bytes of 32 input channels of a block, one part after the other, each of two times 16 output
// channels.
int64_t WeightStep(const ConvTask& task) { return Parts(task) * 2 * kWeightTile; }

// The pitch is an odd number of cache lines, so that the rows of a tile do not map to the same
// cache sets.
int64_t SplitPitch(const ConvTask& task) {
  return (Steps(task) * StepBytes(task) / kTileBytes | 1) * kTileBytes;
}

int64_t Reach(const ConvTask& task) { return (task.taps - 1) * task.dilation; }

// Returns how many output rows one split serves.
int64_t RowsOfSplit(const ConvTask& task) {
  const int64_t rows = kSplitBytes / SplitPitch(task) - Reach(task);
  return rows / kTaskRows * kTaskRows;
}

// Tiles are not used for few channels, which would leave most of them empty, nor for taps that
// reach further than the memory.
bool UsesTiles(const ConvTask& task) {
  return task.in_channels > kTileChannels / 2 && RowsOfSplit(task) > 0;
}

typedef uint16_t HalfVec __attribute__((vector_size(kLanes * sizeof(uint16_t))));
typedef uint32_t WideVec __attribute__((vector_size(kLanes * sizeof(uint32_t))));

// Stores the nearest bfloat16 of each float and returns the remainders.
inline __m512 TakePart(__m512 values, void* to) {
  const __m256bh part = _mm512_cvtneps_pbh(values);
  _mm256_storeu_si256(static_cast<__m256i*>(to), reinterpret_cast<__m256i>(part));
  const WideVec bits = __builtin_convertvector(reinterpret_cast<HalfVec>(part), WideVec) << 16;
  return values - reinterpret_cast<__m512>(bits);
}

// Splits the input rows first .. first + rows - 1 of the task.
void SplitRows(const ConvTask& task, int64_t first, int64_t rows, unsigned char* split) {
  const int64_t steps = Steps(task);
  const int64_t pitch = SplitPitch(task);
  for (int64_t row = 0; row < rows; ++row) {
    const float* from = task.input + (first + row) * task.input_pitch;
    unsigned char* to = split + row * pitch;
    for (int64_t step = 0; step < steps; ++step, to += StepBytes(task)) {
      for (int64_t half = 0; half < 2; ++half) {
        const int64_t channel = step * kTileChannels + half * kLanes;
        const int64_t rest = task.in_channels - channel;
        const auto some = static_cast<__mmask16>(rest >= kLanes ? 0xFFFF
                                                 : rest > 0     ? (1 << rest) - 1
                                                                : 0);
        __m512 values = _mm512_maskz_loadu_ps(some, from + channel);
        for (int64_t part = 0; part < Parts(task); ++part)
          values = TakePart(values, to + part * kTileBytes + half * (kTileBytes / 2));
      }
    }
  }
}

// Configures all eight tile registers at their full size.
constexpr unsigned char kRows = kTileRows;
constexpr TileShapes kTileShapes = {
    .row_bytes = {kTileBytes, kTileBytes, kTileBytes, kTileBytes, kTileBytes, kTileBytes,
                  kTileBytes, kTileBytes},
    .rows = {kRows, kRows, kRows, kRows, kRows, kRows, kRows, kRows}};

// Computes the sums of a block for 16 or 32 rows of the split from `row` on, as rows of
// kChannelBlock.
template <bool kBoth>
inline void SumTiles(const ConvTask& task, const unsigned char* split, int64_t row, int64_t block,
                     float* sums) {
  const int64_t steps = Steps(task);
  const int64_t pitch = SplitPitch(task);
  const auto* weights = reinterpret_cast<const unsigned char*>(task.weights) +
                        block * task.taps * steps * WeightStep(task);
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  const int64_t parts = Parts(task);
  for (int64_t tap = 0; tap < task.taps; ++tap) {
    const unsigned char* input = split + (row + tap * task.dilation) * pitch;
    for (int64_t step = 0; step < steps; ++step, input += StepBytes(task)) {
      for (int64_t of_weight = 0; of_weight < parts; ++of_weight, weights += 2 * kWeightTile) {
        _tile_loadd(6, weights, kTileBytes);
        _tile_loadd(7, weights + kWeightTile, kTileBytes);
        // The omitted products are smaller than the error of the split.
        for (int64_t of_input = 0; of_input < parts - of_weight; ++of_input) {
          const unsigned char* upper = input + of_input * kTileBytes;
          _tile_loadd(4, upper, pitch);
          _tile_dpbf16ps(0, 4, 6);
          _tile_dpbf16ps(1, 4, 7);
          if (kBoth) {
            _tile_loadd(5, upper + kTileRows * pitch, pitch);
            _tile_dpbf16ps(2, 5, 6);
            _tile_dpbf16ps(3, 5, 7);
          }
        }
      }
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
        for (int64_t j = 0; j < kVectors; ++j)
          values[j] = Load(sums + i * kChannelBlock + j * kLanes);
        Finish(task, first + row + i, block, values);
      }
    }
  }
}

bool FiltersBesideTiles(const ConvTask& task) { return !UsesTiles(task) && HasWinogradForm(task); }

int64_t PackedSizeForTiles(const ConvTask& task) {
  if (!UsesTiles(task)) return PackedSize(task);
  return task.blocks * task.taps * Steps(task) * WeightStep(task) /
         static_cast<int64_t>(sizeof(float));
}

// [block][tap][step][part][16 output channels of two][pair of input channels][output channel]
// [of the pair].
void PackForTiles(const ConvTask& task, float* packed) {
  if (!UsesTiles(task)) {
    Pack(task, packed);
    return;
  }
  auto* to = reinterpret_cast<unsigned char*>(packed);
  for (int64_t i = 0; i < task.blocks * task.taps; ++i) {
    const float* from = task.weights + i * task.in_channels * kChannelBlock;
    for (int64_t step = 0; step < Steps(task); ++step, to += WeightStep(task)) {
      for (int64_t channel = 0; channel < kTileChannels; ++channel) {
        const int64_t in = step * kTileChannels + channel;
        for (int64_t half = 0; half < 2; ++half) {
          __m512 values = in < task.in_channels
                              ? _mm512_loadu_ps(from + in * kChannelBlock + half * kLanes)
                              : _mm512_setzero_ps();
          for (int64_t part = 0; part < Parts(task); ++part) {
            uint16_t lanes[kLanes];
            values = TakePart(values, lanes);
            auto* tile = reinterpret_cast<uint16_t*>(to + (2 * part + half) * kWeightTile);
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
  auto* const split = reinterpret_cast<unsigned char*>(
      split_memory.Take(kSplitBytes / static_cast<int64_t>(sizeof(float))));
  _tile_loadconfig(&kTileShapes);
  const int64_t step = RowsOfSplit(task);
  for (int64_t first = 0; first < task.rows; first += step) {
    const int64_t rows = task.rows - first < step ? task.rows - first : step;
    SplitRows(task, first, rows + Reach(task), split);
    __asm__ volatile("" ::: "memory");  // loads of tiles do not tell the compiler what they read
    ConvolveSplit(task, split, first, rows);
  }
  _tile_release();
}

}  // namespace

const ConvKernels kConvKernelsAmx = {"amx",
                                     Target::kAmxBf16,
                                     1.6e-5F,
                                     kTaskRows,
                                     &FiltersBesideTiles,
                                     &PackedSizeForTiles,
                                     &PackForTiles,
                                     &ConvolveOnTiles,
                                     &FinishSums,
                                     &TanhDot,
                                     &Snake,
                                     &Moments};

}  // namespace millrace::kernels
