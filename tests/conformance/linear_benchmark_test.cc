// 5 nn.Linear: one mutex around the forward against the pool.
#include <ATen/ops/linear.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <vector>

#include "tests/conformance/harness.h"
#include "tests/conformance/operators.h"
#include "tests/fakes/joining_thread.h"

namespace millrace::conformance {
namespace {

constexpr int kWorkers = 4;

struct Throughput {
  runtime::DeviceType device{};
  double forwards_per_second = 0;
  int permits = 1;
  int peak_in_use = 0;
};

Throughput RunLinear(runtime::ForwardMode mode, int forwards_each) {
  runtime::RuntimeOptions options = Options(kWorkers);
  options.mode = mode;
  const auto runtime = runtime::Runtime::Bootstrap(options);
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
  return {runtime->device(), kWorkers * forwards_each / seconds, runtime->limiter().permits(),
          runtime->limiter().peak_in_use()};
}

// Work that shares nothing: what the machine itself gains from more threads at this moment.
double SpinsPerSecond(int threads) {
  constexpr uint64_t kSpins = 20'000'000;
  std::atomic<uint64_t> sink{0};
  const auto begin = std::chrono::steady_clock::now();
  {
    std::vector<testing::JoiningThread> running;
    for (int i = 0; i < threads; ++i) {
      running.emplace_back([&, i] {
        uint64_t value = i;
        for (uint64_t spin = 0; spin < kSpins; ++spin) value = value * 6364136223846793005u + 1;
        sink += value;
      });
    }
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  return threads * kSpins / seconds.count();
}

double Median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

TEST(Conformance, LinearSerialAgainstPool) {
  constexpr int kRepeats = 5;
  constexpr int kForwards = 250;
  const auto [device, rate, permits, peak] =
      RunLinear(runtime::ForwardMode::kParallel, kForwards / 10);
  const int at_once = std::min(permits, kWorkers);
  std::vector<double> serial, pool, gain, machine;
  for (int i = 0; i < kRepeats; ++i) {
    const Throughput one = RunLinear(runtime::ForwardMode::kSerial, kForwards);
    const Throughput many = RunLinear(runtime::ForwardMode::kParallel, kForwards);
    EXPECT_EQ(one.peak_in_use, 1);
    EXPECT_LE(many.peak_in_use, permits);
    serial.push_back(one.forwards_per_second);
    pool.push_back(many.forwards_per_second);
    gain.push_back(many.forwards_per_second / one.forwards_per_second);
    machine.push_back(SpinsPerSecond(at_once) / SpinsPerSecond(1));
  }
  char figure[200];
  std::snprintf(figure, sizeof(figure),
                "serial %.0f/s, pool %.0f/s, %.2fx with %d workers and %d permits (machine: %.2fx)",
                Median(serial), Median(pool), Median(gain), kWorkers, permits, Median(machine));
  Report("linear", figure);
#ifndef MILLRACE_SANITIZED
  // Measured against the machine, so that a busy one passes, and a lock left around the forward
  // fails on an idle one.
  // On an accelerator the threads only submit: how much that gains is the driver's to say.
  const double least = device == runtime::DeviceType::kCpu ? 0.6 * Median(machine)
                       : permits > 1                       ? 1.2
                                                           : 0;
  EXPECT_GT(Median(gain), least);
#endif
}

}  // namespace
}  // namespace millrace::conformance
