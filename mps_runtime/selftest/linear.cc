// 5 nn.Linear: one mutex around the forward against the pool.
#include <ATen/ops/linear.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>
#include <vector>

#include "mps_runtime/base/joining_thread.h"
#include "mps_runtime/probe/run_workers.h"
#include "mps_runtime/probe/tensors.h"
#include "mps_runtime/selftest/conformance.h"

namespace millrace::runtime {
namespace {

constexpr int kWorkers = 4;

struct Throughput {
  DeviceType device{};
  double forwards_per_second = 0;
  int permits = 1;
  int peak_in_use = 0;
};

Throughput RunLinear(std::optional<DeviceType> which_device, ForwardMode mode, int forwards_each) {
  RuntimeOptions options = SelftestRuntime(which_device, kWorkers);
  options.mode = mode;
  const auto runtime = Runtime::Bootstrap(options);
  const at::Device device = TensorDevice(runtime->device());
  const at::Tensor input = Numbers({64, 512}, device, 0);
  const at::Tensor weight = Numbers({512, 512}, device, 1);
  const at::Tensor bias = Numbers({512}, device, 2);
  const double seconds = RunWorkers(*runtime, kWorkers, [&](int, auto& context) {
    for (int i = 0; i < forwards_each; ++i) {
      const ForwardScope scope(*runtime, context);
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
    std::vector<JoiningThread> running;
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

}  // namespace

void TestLinearSerialAgainstPool(std::optional<DeviceType> which_device, Findings& findings) {
  constexpr int kRepeats = 5;
  constexpr int kForwards = 250;
  const auto [device, rate, permits, peak] =
      RunLinear(which_device, ForwardMode::kParallel, kForwards / 10);
  const int at_once = std::min(permits, kWorkers);
  std::vector<double> serial, pool, gain, machine;
  for (int i = 0; i < kRepeats; ++i) {
    findings.Progress("repeat " + std::to_string(i + 1) + " of " + std::to_string(kRepeats));
    const Throughput one = RunLinear(which_device, ForwardMode::kSerial, kForwards);
    const Throughput many = RunLinear(which_device, ForwardMode::kParallel, kForwards);
    findings.ExpectEqual("forwards in flight with one mutex", 1, one.peak_in_use);
    findings.ExpectAtMost("forwards in flight", permits, many.peak_in_use);
    serial.push_back(one.forwards_per_second);
    pool.push_back(many.forwards_per_second);
    gain.push_back(many.forwards_per_second / one.forwards_per_second);
    machine.push_back(SpinsPerSecond(at_once) / SpinsPerSecond(1));
  }
  findings.AddFigure("serial_forwards_per_s", Median(serial));
  findings.AddFigure("pool_forwards_per_s", Median(pool));
  findings.AddFigure("gain_ratio", Median(gain));
  findings.AddFigure("machine_gain_ratio", Median(machine));
  findings.AddFigure("workers", kWorkers);
  findings.AddFigure("permits", permits);
#ifndef MILLRACE_SANITIZED
  // Measured against the machine, so that a busy one passes, and a lock left around the forward
  // fails on an idle one.
  // On an accelerator the threads only submit: how much that gains is the driver's to say.
  const double least = device == DeviceType::kCpu ? 0.6 * Median(machine) : permits > 1 ? 1.2 : 0;
  findings.ExpectAbove("times as fast as with one mutex", least, Median(gain));
#endif
}

}  // namespace millrace::runtime
