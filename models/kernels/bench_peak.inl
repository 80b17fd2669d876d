#pragma once

// The parts that the benchmarks of kernels share: the peak of the processor, and times of one
// thread. Included by files that are compiled with -ffp-contract=fast, which fuses the products and
// sums of the peak.

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <random>
#include <vector>

#include "models/kernels/aligned_buffer.h"
#include "models/kernels/target.h"

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
#elif defined(__aarch64__)
MILLRACE_PEAK(PeakNeon, 4, used)

int64_t (*PeakOf(Target))() { return &PeakNeon; }
#else
int64_t (*PeakOf(Target))() { return nullptr; }
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
