// 1 simple parallel and 2 extended stress: results on many threads equal those of one.
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <vector>

#include "tests/conformance/harness.h"
#include "tests/conformance/operators.h"

namespace millrace::conformance {
namespace {

constexpr int kSeeds = 4;

// By operator, then by seed.
std::vector<std::vector<at::Tensor>> OneThreadResults(runtime::Runtime& runtime) {
  std::vector<std::vector<at::Tensor>> results;
  const auto context = runtime.EnterMainThread();
  for (const Operator& op : Operators()) {
    std::vector<at::Tensor>& of_op = results.emplace_back();
    for (int seed = 0; seed < kSeeds; ++seed) {
      const runtime::ForwardScope scope(runtime, *context);
      of_op.push_back(RunToHost(op, TensorDevice(runtime), seed, *context));
    }
  }
  return results;
}

void ExpectEqualToOneThread(int threads, int iterations) {
  const auto runtime = runtime::Runtime::Bootstrap(Options(threads));
  const auto expected = OneThreadResults(*runtime);
  const int count = static_cast<int>(Operators().size());
  std::atomic<int> wrong{0};
  const double seconds = RunWorkers(*runtime, threads, [&](int thread, auto& context) {
    for (int i = 0; i < iterations; ++i) {
      for (int op = 0; op < count; ++op) {
        // Each thread at another operator, so that different ones meet.
        const int which = (op + thread) % count;
        const int seed = (i + thread) % kSeeds;
        const runtime::ForwardScope scope(*runtime, context);
        const at::Tensor actual =
            RunToHost(Operators()[which], TensorDevice(*runtime), seed, context);
        if (!SameNumbers(expected[which][seed], actual, runtime->device())) ++wrong;
      }
    }
  });
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(runtime->stream_pool().stats().leased, 0);
  EXPECT_LE(runtime->limiter().peak_in_use(), runtime->limiter().permits());
  const int forwards = threads * iterations * count;
  Report("parallel_" + std::to_string(threads) + "x" + std::to_string(iterations),
         std::to_string(static_cast<int>(forwards / seconds)) + " forwards/s, " +
             std::to_string(wrong) + " of " + std::to_string(forwards) + " wrong, at most " +
             std::to_string(runtime->limiter().peak_in_use()) + " in flight");
}

TEST(Conformance, SimpleParallel) { ExpectEqualToOneThread(2, 20); }

TEST(Conformance, ExtendedStress4x10) { ExpectEqualToOneThread(4, 10); }
TEST(Conformance, ExtendedStress8x50) { ExpectEqualToOneThread(8, 50); }
TEST(Conformance, ExtendedStress8x100) { ExpectEqualToOneThread(8, 100); }
TEST(Conformance, ExtendedStress16x50) { ExpectEqualToOneThread(16, 50); }

}  // namespace
}  // namespace millrace::conformance
