// 5 nn.Linear: one mutex around the forward against the pool.
#include <ATen/ops/linear.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <vector>

#include "tests/conformance/harness.h"
#include "tests/conformance/operators.h"

namespace millrace::conformance {
namespace {

constexpr int kWorkers = 4;

double ForwardsPerSecond(runtime::ForwardMode mode, int forwards_each, int& permits) {
  runtime::RuntimeOptions options = Options(kWorkers);
  options.mode = mode;
  const auto runtime = runtime::Runtime::Bootstrap(options);
  permits = runtime->limiter().permits();
  const at::Device device = TensorDevice(*runtime);
  const at::Tensor input = Numbers({64, 512}, device, 0);
  const at::Tensor weight = Numbers({512, 512}, device, 1);
  const at::Tensor bias = Numbers({512}, device, 2);
  const double seconds = RunWorkers(*runtime, kWorkers, [&](int, auto& context) {
    for (int i = 0; i < forwards_each; ++i) {
      const runtime::ForwardScope scope(*runtime, context);
      const at::Tensor output = at::linear(input, weight, bias);
      context.Synchronize();
    }
  });
  return kWorkers * forwards_each / seconds;
}

double Median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

TEST(Conformance, LinearSerialAgainstPool) {
  constexpr int kRepeats = 5;
  constexpr int kForwards = 250;
  int permits = 1;
  std::vector<double> serial, pool;
  ForwardsPerSecond(runtime::ForwardMode::kParallel, kForwards / 10, permits);  // warm-up
  for (int i = 0; i < kRepeats; ++i) {
    serial.push_back(ForwardsPerSecond(runtime::ForwardMode::kSerial, kForwards, permits));
    pool.push_back(ForwardsPerSecond(runtime::ForwardMode::kParallel, kForwards, permits));
  }
  const double gain = Median(pool) / Median(serial);
  char figure[160];
  std::snprintf(figure, sizeof(figure),
                "serial %.0f/s, pool %.0f/s, %.2fx with %d workers and %d permits", Median(serial),
                Median(pool), gain, kWorkers, permits);
  Report("linear", figure);
#ifndef MILLRACE_SANITIZED
  // Far below what two idle cores give, so that a busy machine passes and a lock left around the
  // forward does not.
  if (permits > 1) {
    EXPECT_GT(gain, 1.2);
  }
#endif
}

}  // namespace
}  // namespace millrace::conformance
