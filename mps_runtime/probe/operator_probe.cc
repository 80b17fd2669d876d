#include "mps_runtime/probe/operator_probe.h"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <string_view>

#include "mps_runtime/probe/operators.h"
#include "mps_runtime/probe/run_workers.h"
#include "mps_runtime/probe/tensors.h"
#include "mps_runtime/queue_hold.h"
#include "mps_runtime/runtime.h"

namespace millrace::runtime {
namespace {

constexpr char kFlag[] = "--operator-probe";
constexpr char kAnyDevice[] = "auto";
constexpr char kHoldsQueue[] = "holds-queue";
constexpr char kNoHold[] = "no-hold";

// An operator reaches the queue, or passes by it, within a fraction of this.
constexpr std::chrono::milliseconds kHold{50};

}  // namespace

std::vector<std::string> OperatorNames() {
  std::vector<std::string> names;
  for (const Operator& op : Operators()) names.emplace_back(op.name);
  return names;
}

bool RunOperatorHere(const OperatorProbe& probe) {
  const Operator& op = FindOperator(probe.op);
  RuntimeOptions options;
  options.device = probe.device;
  options.workers = probe.threads;
  options.max_in_flight = probe.threads;
  options.accept_unsafe_concurrency = true;
  options.intra_op_threads = 1;
  const auto runtime = Runtime::Bootstrap(options);
  const at::Device device = TensorDevice(runtime->device());
  std::vector<at::Tensor> inputs;
  at::Tensor expected;
  {
    const auto context = runtime->EnterMainThread();
    const ForwardScope scope(*runtime, *context);
    expected = RunToHost(op, device, 0, *context);
    inputs = op.inputs(device, 0);
    context->Synchronize();
  }
  std::atomic<bool> wrong{false};
  RunWorkers(*runtime, probe.threads, [&](int, WorkerContext& context) {
    // The loop contains nothing but the operator and the wait, so that all threads have work in
    // flight at once: a copy from or to the host waits for the device with the encode lock held.
    std::vector<at::Tensor> outputs;
    for (int i = 0; i < probe.iterations; ++i) {
      const ForwardScope scope(*runtime, context);
      std::optional<QueueHold> hold;
      if (probe.holds_queue && runtime->device() == DeviceType::kMps) hold.emplace(kHold);
      outputs.push_back(op.run(inputs));
      hold.reset();
      context.Synchronize();
    }
    const ForwardScope scope(*runtime, context);
    for (const at::Tensor& output : outputs) {
      if (!SameNumbers(expected, output.to(at::kCPU), runtime->device())) wrong = true;
    }
  });
  return !wrong;
}

ChildResult RunOperatorInChild(const OperatorProbe& probe, const ChildOptions& options) {
  return RunChild({kFlag, probe.op, std::to_string(probe.threads), std::to_string(probe.iterations),
                   std::string(probe.device ? ToString(*probe.device) : kAnyDevice),
                   probe.holds_queue ? kHoldsQueue : kNoHold},
                  options);
}

std::optional<int> OperatorProbeMain(int argc, char** argv) {
  if (argc != 7 || std::string_view(argv[1]) != kFlag) return std::nullopt;
  EndWithParent();
  try {
    return RunOperatorHere({.op = argv[2],
                            .threads = std::atoi(argv[3]),
                            .iterations = std::atoi(argv[4]),
                            .device = ParseDeviceType(argv[5]),
                            .holds_queue = std::string_view(argv[6]) == kHoldsQueue})
               ? 0
               : kChildWrong;
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "%s on %s threads: %s\n", argv[2], argv[3], failure.what());
    return kChildError;
  }
}

}  // namespace millrace::runtime
