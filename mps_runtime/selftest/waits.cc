// A wait for one stream, while another has much more work under way.
#include <ATen/ops/matmul.h>

#include <chrono>
#include <latch>

#include "mps_runtime/probe/run_workers.h"
#include "mps_runtime/probe/tensors.h"
#include "mps_runtime/selftest/conformance.h"

namespace millrace::runtime {
namespace {

constexpr int kSide = 512;
constexpr int kMaxProducts = 1 << 17;
constexpr std::chrono::milliseconds kLong{200};

// Submits `count` products of the matrix with itself and returns the last.
at::Tensor Products(int count, const at::Tensor& square) {
  at::Tensor product;
  for (int i = 0; i < count; ++i) product = at::matmul(square, square);
  return product;
}

// Opens a latch when it goes, so that an exception leaves nobody waiting.
struct CountDown {
  ~CountDown() { latch.count_down(); }
  std::latch& latch;
};

struct Run {
  Duration long_work{};   // from the start of the long work to the end of the wait for it
  Duration short_wait{};  // from the start of the short work to the end of the wait for it
  bool correct = true;
};

// One thread submits `count` products and waits. Once they are submitted, the other submits one
// and waits too.
Run RunBoth(Runtime& runtime, int count) {
  const at::Device device = TensorDevice(runtime.device());
  const at::Tensor square = Numbers({kSide, kSide}, at::kCPU, 1);
  const at::Tensor expected = at::matmul(square, square);
  std::latch submitted(1);
  Run run;
  RunWorkers(runtime, 2, [&](int thread, auto& context) {
    const bool is_long = thread == 0;
    if (!is_long) submitted.wait();
    const TimePoint begin = Clock::Real().Now();
    at::Tensor product;
    {
      const ForwardScope scope(runtime, context);
      if (is_long) {
        const CountDown after{submitted};
        product = Products(count, square.to(device));
      } else {
        product = Products(1, square.to(device));
      }
      context.Synchronize();
      (is_long ? run.long_work : run.short_wait) = Clock::Real().Now() - begin;
      product = product.to(at::kCPU);
    }
    if (!is_long) run.correct = SameNumbers(expected, product, runtime.device());
  });
  return run;
}

double Milliseconds(Duration duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

}  // namespace

void TestOwnStreamWait(const SelftestSetup& setup, Findings& findings) {
  const auto runtime = Runtime::Bootstrap(SelftestRuntime(setup, 2));
  // On the CPU an operator has finished when it returns. With one permit nothing else is under way.
  if (runtime->device() == DeviceType::kCpu || runtime->limiter().permits() < 2) return;
  Run run;
  for (int count = 32; count <= kMaxProducts && run.long_work < kLong; count *= 2) {
    findings.Progress(std::to_string(count) + " products");
    run = RunBoth(*runtime, count);
    if (!run.correct) findings.Fail("the product on the other stream is wrong");
  }
  // The waits are reported and not judged, because a device may run one stream's work after the
  // other's.
  findings.AddFigure("own_wait_ms", Milliseconds(run.short_wait));
  findings.AddFigure("other_work_ms", Milliseconds(run.long_work));
}

}  // namespace millrace::runtime
