// The device computes float32 as the CPU does. Some libraries round the factors of a convolution to
// 10 bits unless they are told not to.
#include <ATen/TensorOperators.h>
#include <ATen/ops/abs.h>
#include <ATen/ops/item.h>
#include <ATen/ops/max.h>

#include <algorithm>
#include <string>

#include "mps_runtime/probe/operators.h"
#include "mps_runtime/probe/tensors.h"
#include "mps_runtime/selftest/conformance.h"

namespace millrace::runtime {
namespace {

// Relative to the largest number of a result: sums in another order differ by less, rounded factors
// by more.
constexpr double kTolerance = 2e-5;

}  // namespace

void TestNumbersOfTheCpu(const SelftestSetup& setup, Findings& findings) {
  const auto runtime = Runtime::Bootstrap(SelftestRuntime(setup, 1));
  const auto context = runtime->EnterMainThread();
  double greatest = 0;
  for (const Operator& op : Operators()) {
    const ForwardScope scope(*runtime, *context);
    const at::Tensor expected = RunToHost(op, at::kCPU, 0, *context);
    const at::Tensor actual = RunToHost(op, TensorDevice(runtime->device()), 0, *context);
    const double difference = (actual - expected).abs().max().item<double>() /
                              std::max(expected.abs().max().item<double>(), 1e-30);
    greatest = std::max(greatest, difference);
    if (!(difference <= kTolerance)) {
      findings.Fail(std::string(op.name) + ": differs from the CPU's result by " +
                    std::to_string(difference) + " of its largest number, allowed are " +
                    std::to_string(kTolerance));
    }
  }
  findings.AddFigure("largest_relative_difference", greatest);
}

}  // namespace millrace::runtime
