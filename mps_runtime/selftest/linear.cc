// Test 5, nn.Linear: one mutex around the forward against the pool, where forwards overlap.
#include <ATen/ops/linear.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>
#include <vector>

#include "mps_runtime/base/mutex.h"
#include "mps_runtime/probe/run_workers.h"
#include "mps_runtime/probe/tensors.h"
#include "mps_runtime/selftest/conformance.h"

namespace millrace::runtime {
namespace {

constexpr int kWorkers = 4;

struct Throughput {
  double forwards_per_second = 0;
  int permits = 1;
  int peak_in_use = 0;
};

Throughput RunLinear(const SelftestSetup& setup, ForwardMode mode, int forwards_each) {
  RuntimeOptions options = SelftestRuntime(setup, kWorkers);
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
  return {kWorkers * forwards_each / seconds, runtime->limiter().permits(),
          runtime->limiter().peak_in_use()};
}

// A place where two threads wait for each other, each within its forward.
class Meeting {
 public:
  // Returns true if the other thread arrived too.
  bool Wait() MILLRACE_EXCLUDES(mu_) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    MutexLock lock(mu_);
    ++present_;
    changed_.NotifyAll();
    while (present_ < 2) {
      if (!changed_.WaitUntil(mu_, deadline) && present_ < 2) return false;
    }
    return true;
  }

 private:
  Mutex mu_;
  CondVar changed_;
  int present_ MILLRACE_GUARDED_BY(mu_) = 0;
};

// Returns the number of threads, of two, that met the other while both had a forward in flight.
int MeetWithinForwards(const SelftestSetup& setup) {
  RuntimeOptions options = SelftestRuntime(setup, 2);
  options.mode = ForwardMode::kParallel;
  const auto runtime = Runtime::Bootstrap(options);
  const at::Device device = TensorDevice(runtime->device());
  Meeting meeting;
  std::atomic<int> met{0};
  RunWorkers(*runtime, 2, [&](int thread, auto& context) {
    const ForwardScope scope(*runtime, context);
    const at::Tensor square = Numbers({64, 64}, device, thread);
    const at::Tensor output = at::linear(square, square);
    if (meeting.Wait()) ++met;
    context.Synchronize();
  });
  return met;
}

double Median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

}  // namespace

void TestLinearSerialAgainstPool(const SelftestSetup& setup, Findings& findings) {
  constexpr int kRepeats = 5;
  constexpr int kForwards = 250;
  RunLinear(setup, ForwardMode::kParallel, kForwards / 10);
  int permits = 1;
  std::vector<double> serial, pool, gain;
  for (int i = 0; i < kRepeats; ++i) {
    findings.Progress("repeat " + std::to_string(i + 1) + " of " + std::to_string(kRepeats));
    const Throughput one = RunLinear(setup, ForwardMode::kSerial, kForwards);
    const Throughput many = RunLinear(setup, ForwardMode::kParallel, kForwards);
    permits = many.permits;
    findings.ExpectEqual("forwards in flight with one mutex", 1, one.peak_in_use);
    findings.ExpectAtMost("forwards in flight", permits, many.peak_in_use);
    serial.push_back(one.forwards_per_second);
    pool.push_back(many.forwards_per_second);
    gain.push_back(many.forwards_per_second / one.forwards_per_second);
  }
  findings.AddFigure("serial_forwards_per_s", Median(serial));
  findings.AddFigure("pool_forwards_per_s", Median(pool));
  // The gain is reported and not judged, because a machine that is busy with other work gains
  // nothing.
  findings.AddFigure("gain_ratio", Median(gain));
  findings.AddFigure("workers", kWorkers);
  findings.AddFigure("permits", permits);
  if (permits < 2) return;  // only one forward at a time is safe on the device
  findings.ExpectEqual("threads that met another within a forward", 2, MeetWithinForwards(setup));
}

}  // namespace millrace::runtime
