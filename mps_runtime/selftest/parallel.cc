// Tests 1, simple parallel, and 2, extended stress: results on many threads equal those of one.

#include <atomic>
#include <vector>

#include "mps_runtime/probe/operators.h"
#include "mps_runtime/probe/run_workers.h"
#include "mps_runtime/probe/tensors.h"
#include "mps_runtime/selftest/conformance.h"

namespace millrace::runtime {
namespace {

constexpr int kSeeds = 4;

// Returns results by operator, then by seed.
std::vector<std::vector<at::Tensor>> OneThreadResults(Runtime& runtime) {
  std::vector<std::vector<at::Tensor>> results;
  const auto context = runtime.EnterMainThread();
  for (const Operator& op : Operators()) {
    std::vector<at::Tensor>& of_op = results.emplace_back();
    for (int seed = 0; seed < kSeeds; ++seed) {
      const ForwardScope scope(runtime, *context);
      of_op.push_back(RunToHost(op, TensorDevice(runtime.device()), seed, *context));
    }
  }
  return results;
}

void ExpectEqualToOneThread(const SelftestSetup& setup, int threads, int iterations,
                            Findings& findings) {
  const auto runtime = Runtime::Bootstrap(SelftestRuntime(setup, threads));
  const auto expected = OneThreadResults(*runtime);
  const int count = static_cast<int>(Operators().size());
  std::atomic<int> wrong{0};
  const double seconds = RunWorkers(*runtime, threads, [&](int thread, auto& context) {
    for (int i = 0; i < iterations; ++i) {
      for (int op = 0; op < count; ++op) {
        // Each thread runs another operator, so that different operators overlap.
        const int which = (op + thread) % count;
        const int seed = (i + thread) % kSeeds;
        const ForwardScope scope(*runtime, context);
        const at::Tensor actual =
            RunToHost(Operators()[which], TensorDevice(runtime->device()), seed, context);
        if (!SameNumbers(expected[which][seed], actual, runtime->device())) ++wrong;
      }
    }
  });
  const int forwards = threads * iterations * count;
  findings.AddFigure("forwards", forwards);
  findings.AddFigure("forwards_per_s", forwards / seconds);
  findings.AddFigure("wrong", wrong);
  findings.AddFigure("peak_in_flight", runtime->limiter().peak_in_use());
  findings.ExpectEqual("results that differ from those of one thread", 0, wrong.load());
  findings.ExpectEqual("streams still leased", 0, runtime->stream_pool().stats().leased);
  findings.ExpectAtMost("forwards in flight", runtime->limiter().permits(),
                        runtime->limiter().peak_in_use());
}

}  // namespace

void TestSimpleParallel(const SelftestSetup& setup, Findings& findings) {
  ExpectEqualToOneThread(setup, 2, 20, findings);
}

void TestStress4x10(const SelftestSetup& setup, Findings& findings) {
  ExpectEqualToOneThread(setup, 4, 10, findings);
}

void TestStress8x50(const SelftestSetup& setup, Findings& findings) {
  ExpectEqualToOneThread(setup, 8, 50, findings);
}

void TestStress8x100(const SelftestSetup& setup, Findings& findings) {
  ExpectEqualToOneThread(setup, 8, 100, findings);
}

void TestStress16x50(const SelftestSetup& setup, Findings& findings) {
  ExpectEqualToOneThread(setup, 16, 50, findings);
}

}  // namespace millrace::runtime
