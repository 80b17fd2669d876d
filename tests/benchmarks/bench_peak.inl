#pragma once

// The parts that the benchmarks of kernels share: the peak of the processor, and times of one
// thread. Included by files that are compiled with -ffp-contract=fast, which fuses the products and
// sums of the peak.

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <random>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "models/kernels/aligned_buffer.h"
#include "models/kernels/target.h"
#include "models/kernels/tile_shapes.h"

namespace millrace::kernels {
namespace {

#if defined(__aarch64__)
#define MILLRACE_IN_REGISTER "+w"
constexpr int64_t kPeakChains = 16;  // independent sums: up to four units, some cycles each
#else
#define MILLRACE_IN_REGISTER "+x"
constexpr int64_t kPeakChains = 12;  // independent sums: two units, some cycles each
#endif
constexpr int64_t kPeakSteps = 20000;

// The loop that measures the peak, with vectors of `lanes` floats, compiled for an instruction set.
// Returns the number of floating-point operations.
#define MILLRACE_PEAK(name, lanes, attributes)                               \
  __attribute__((attributes, noinline)) int64_t name() {                     \
    typedef float Vec __attribute__((vector_size((lanes) * sizeof(float)))); \
    Vec sums[kPeakChains] = {};                                              \
    Vec x = Vec{} + 0.5F;                                                    \
    Vec y = Vec{} + 0.25F;                                                   \
    __asm__ volatile("" : MILLRACE_IN_REGISTER(x), MILLRACE_IN_REGISTER(y)); \
    for (int64_t step = 0; step < kPeakSteps; ++step) {                      \
      _Pragma("GCC unroll 16") for (Vec & sum : sums) {                      \
        sum = sum * x + y;                                                   \
        __asm__ volatile("" : MILLRACE_IN_REGISTER(sum));                    \
      }                                                                      \
    }                                                                        \
    return 2 * (lanes)*kPeakChains * kPeakSteps;                             \
  }

#if defined(__x86_64__)
MILLRACE_PEAK(PeakPortable, 4, target("sse2"))
MILLRACE_PEAK(PeakAvx2, 8, target("avx2,fma"))
MILLRACE_PEAK(PeakAvx512, 16, target("avx512f"))

// Returns the loop for float32 products of the target; null if its products are of other numbers.
int64_t (*PeakOf(Target target))() {
  switch (target) {
    case Target::kPortable:
      return &PeakPortable;
    case Target::kAvx2:
    case Target::kAvxVnni:
      return &PeakAvx2;
    case Target::kAvx512:
      return &PeakAvx512;
    default:
      return nullptr;
  }
}

// The same with products of int8: `add` adds the products of bytes of x and y to a sum, each time
// anew.
#define MILLRACE_INT8_PEAK(name, vector, bytes, attributes, add)             \
  __attribute__((attributes, noinline)) int64_t name() {                     \
    vector sums[kPeakChains] = {};                                           \
    vector x = {};                                                           \
    vector y = {};                                                           \
    __asm__ volatile("" : MILLRACE_IN_REGISTER(x), MILLRACE_IN_REGISTER(y)); \
    for (int64_t step = 0; step < kPeakSteps; ++step) {                      \
      _Pragma("GCC unroll 16") for (vector & sum : sums) {                   \
        __asm__ volatile("" : MILLRACE_IN_REGISTER(x));                      \
        sum = add;                                                           \
        __asm__ volatile("" : MILLRACE_IN_REGISTER(sum));                    \
      }                                                                      \
    }                                                                        \
    return 2 * (bytes)*kPeakChains * kPeakSteps;                             \
  }

MILLRACE_INT8_PEAK(Int8PeakAvx2, __m256i, 32, target("avx2"),
                   _mm256_add_epi32(sum, _mm256_madd_epi16(_mm256_maddubs_epi16(x, y), y)))
MILLRACE_INT8_PEAK(Int8PeakAvxVnni, __m256i, 32, target("avxvnni,avx2"),
                   _mm256_dpbusd_avx_epi32(sum, x, y))
MILLRACE_INT8_PEAK(Int8PeakAvx512, __m512i, 64, target("avx512f,avx512vnni"),
                   _mm512_dpbusd_epi32(sum, x, y))

// The loop for the matrix unit, with four registers of sums.
__attribute__((target("amx-tile,amx-int8"), noinline)) int64_t Int8PeakAmx() {
  constexpr unsigned char kRows = 16;
  constexpr unsigned short kBytes = 64;
  const TileShapes shapes = {
      .row_bytes = {kBytes, kBytes, kBytes, kBytes, kBytes, kBytes, kBytes, kBytes},
      .rows = {kRows, kRows, kRows, kRows, kRows, kRows, kRows, kRows}};
  __asm__ volatile("" ::"r"(&shapes) : "memory");  // the compiler knows only of its first bytes
  _tile_loadconfig(&shapes);
  for (int64_t step = 0; step < kPeakSteps; ++step) {
    _tile_dpbssd(0, 4, 6);
    _tile_dpbssd(1, 4, 7);
    _tile_dpbssd(2, 5, 6);
    _tile_dpbssd(3, 5, 7);
  }
  _tile_release();
  return int64_t{2} * 4 * kRows * kRows * kBytes * kPeakSteps;
}

// Returns the loop for int8 products of the target; null if there is none. Not every benchmark
// asks.
[[maybe_unused]] int64_t (*Int8PeakOf(Target target))() {
  switch (target) {
    case Target::kAvx2:
      return &Int8PeakAvx2;
    case Target::kAvxVnni:
      return &Int8PeakAvxVnni;
    case Target::kAvx512Vnni:
      return &Int8PeakAvx512;
    case Target::kAmxInt8:
      return &Int8PeakAmx;
    default:
      return nullptr;
  }
}
#elif defined(__aarch64__)
MILLRACE_PEAK(PeakNeon, 4, used)

int64_t (*PeakOf(Target))() { return &PeakNeon; }
[[maybe_unused]] int64_t (*Int8PeakOf(Target))() { return nullptr; }
#else
int64_t (*PeakOf(Target))() { return nullptr; }
[[maybe_unused]] int64_t (*Int8PeakOf(Target))() { return nullptr; }
#endif

// Distributed as weights are: what int8 costs depends on it.
AlignedBuffer<float> Random(int64_t count) {
  AlignedBuffer<float> values(static_cast<size_t>(count));
  std::mt19937 random(1);
  std::normal_distribution<float> any;
  for (int64_t i = 0; i < count; ++i) values.data()[i] = any(random);
  return values;
}

double ThreadSeconds() {
  timespec time = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double Median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

}  // namespace
}  // namespace millrace::kernels
