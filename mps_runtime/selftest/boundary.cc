// Tests of each operator in fresh processes: on more and more threads (test 3), and whether it
// encodes through its stream's queue.
#include <chrono>
#include <string>

#include "mps_runtime/probe/operator_probe.h"
#include "mps_runtime/probe/operators.h"
#include "mps_runtime/selftest/conformance.h"

namespace millrace::runtime {
namespace {

constexpr std::chrono::minutes kWatchdog{2};

}  // namespace

void TestThreadBoundary(const SelftestSetup& setup, Findings& findings) {
  constexpr int kThreads[] = {2, 8, 16};
  int safe = 0;
  DeviceType device{};
  {
    const auto runtime = Runtime::Bootstrap(SelftestRuntime(setup, 1));
    safe = runtime->limiter().permits();
    device = runtime->device();
  }
  int ok = 0, tried = 0;
  for (const Operator& op : Operators()) {
    for (const int threads : kThreads) {
      const std::string what = std::string(op.name) + " on " + std::to_string(threads) + " threads";
      findings.Progress(what);
      const ChildResult result =
          RunOperatorInChild({.op = std::string(op.name), .threads = threads, .device = device},
                             {.watchdog = kWatchdog, .capture_last_line = true});
      findings.AddOutcome(
          {std::string(op.name), threads, std::string(ToString(result.outcome)), Describe(result)});
      ++tried;
      if (result.outcome == ChildOutcome::kOk) ++ok;
      // Beyond its safe concurrency a device may behave in any way, except the CPU.
      if ((threads <= safe || device == DeviceType::kCpu) && result.outcome != ChildOutcome::kOk) {
        findings.ExpectEqual(what, ToString(ChildOutcome::kOk), Describe(result));
      }
    }
  }
  findings.AddFigure("ok", ok);
  findings.AddFigure("tried", tried);
}

void TestEncodersOnTheQueue(const SelftestSetup& setup, Findings& findings) {
  constexpr int kIterations = 3;
  const DeviceType device = Runtime::Bootstrap(SelftestRuntime(setup, 1))->device();
  if (device != DeviceType::kMps) return;  // others have no such queue
  int ok = 0, tried = 0;
  for (const Operator& op : Operators()) {
    const std::string what = std::string(op.name) + " while its queue is held";
    findings.Progress(what);
    const ChildResult result =
        RunOperatorInChild({.op = std::string(op.name),
                            .threads = 1,
                            .iterations = kIterations,
                            .device = device,
                            .holds_queue = true},
                           {.watchdog = kWatchdog, .capture_last_line = true});
    findings.ExpectEqual(what, ToString(ChildOutcome::kOk), Describe(result));
    ++tried;
    if (result.outcome == ChildOutcome::kOk) ++ok;
  }
  findings.AddFigure("ok", ok);
  findings.AddFigure("tried", tried);
}

}  // namespace millrace::runtime
