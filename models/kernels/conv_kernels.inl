// Each file of an instruction set includes this after it has defined MILLRACE_LANES (floats of a
// vector register) and MILLRACE_TILE (rows computed together), and makes its table of kernels from
// it. It includes no other headers; conv_kernels.h says why.

#include "models/kernels/conv_kernels.h"

namespace millrace::kernels {
namespace {

constexpr int kLanes = MILLRACE_LANES;
constexpr int kVectors = static_cast<int>(kChannelBlock) / kLanes;

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

template <int kRows>
inline void ConvolveTile(const ConvTask& task, int64_t row, int64_t block) {
  Vec sums[kRows][kVectors];
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 8
    for (int j = 0; j < kVectors; ++j) sums[i][j] = Vec{};
  }
  const int64_t pitch = task.input_pitch;
  const float* weights = task.weights + block * task.taps * task.in_channels * kChannelBlock;
  for (int64_t tap = 0; tap < task.taps; ++tap) {
    const float* input = task.input + (row + tap * task.dilation) * pitch;
    for (int64_t c = 0; c < task.in_channels; ++c) {
      Vec w[kVectors];
#pragma GCC unroll 8
      for (int j = 0; j < kVectors; ++j) w[j] = Load(weights + j * kLanes);
      weights += kChannelBlock;
#pragma GCC unroll 16
      for (int i = 0; i < kRows; ++i) {
        const Vec x = Splat(input[i * pitch + c]);
#pragma GCC unroll 8
        for (int j = 0; j < kVectors; ++j) sums[i][j] += x * w[j];
      }
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) Finish(task, row + i, block, sums[i]);
}

int64_t PackedSize(const ConvTask& task) {
  return task.blocks * task.taps * task.in_channels * kChannelBlock;
}

// Kernels of this file read weights in the original order.
void Pack(const ConvTask& task, float* packed) {
  const int64_t size = PackedSize(task);
  for (int64_t i = 0; i < size; ++i) packed[i] = task.weights[i];
}

void Convolve(const ConvTask& task) {
  for (int64_t block = 0; block < task.blocks; ++block) {
    int64_t row = 0;
    for (; row + MILLRACE_TILE <= task.rows; row += MILLRACE_TILE)
      ConvolveTile<MILLRACE_TILE>(task, row, block);
    if (MILLRACE_TILE > 8 && row + 8 <= task.rows) {
      ConvolveTile<8>(task, row, block);
      row += 8;
    }
    if (MILLRACE_TILE > 4 && row + 4 <= task.rows) {
      ConvolveTile<4>(task, row, block);
      row += 4;
    }
    if (MILLRACE_TILE > 2 && row + 2 <= task.rows) {
      ConvolveTile<2>(task, row, block);
      row += 2;
    }
    for (; row < task.rows; ++row) ConvolveTile<1>(task, row, block);
  }
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
  constexpr int64_t kRows = 32;  // their cache lines stay in the cache
  for (int64_t begin = 0; begin < task.rows; begin += kRows) {
    const int64_t end = task.rows - begin < kRows ? task.rows : begin + kRows;
    for (int64_t c = 0; c < task.channels; c += kLanes) {
      const Vec scale = Load(task.scale + c);
      const Vec shift = Load(task.shift + c);
      const Vec alpha = Load(task.alpha + c);
      const Vec inverse = Load(task.inverse_alpha + c);
      for (int64_t row = begin; row < end; ++row) {
        const int64_t at = row * task.channels + c;
        const Vec y = Load(task.input + at) * scale + shift;
        Store(task.output + at, y + SquaredSine(alpha * y) * inverse);
      }
    }
  }
}

void Moments(const float* input, int64_t rows, int64_t channels, const float* center, float* sums,
             float* squares) {
  for (int64_t c = 0; c < channels; c += kLanes) {
    const Vec middle = Load(center + c);
    Vec sum = {};
    Vec square = {};
    for (int64_t row = 0; row < rows; ++row) {
      const Vec off = Load(input + row * channels + c) - middle;
      sum += off;
      square += off * off;
    }
    Store(sums + c, sum);
    Store(squares + c, square);
  }
}

}  // namespace
}  // namespace millrace::kernels
