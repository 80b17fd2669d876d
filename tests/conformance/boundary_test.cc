// 3 thread boundary: each operator on more and more threads, each time in a fresh process.
#include "tests/conformance/boundary.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "tests/conformance/harness.h"
#include "tests/conformance/operators.h"

namespace millrace::conformance {
namespace {

using std::chrono::seconds;

TEST(Conformance, ThreadBoundary) {
  constexpr seconds kWatchdog{120};
  constexpr int kThreads[] = {2, 8, 16};
  int safe = 0;
  runtime::DeviceType device{};
  {
    const auto runtime = runtime::Runtime::Bootstrap(Options(1));
    safe = runtime->limiter().permits();
    device = runtime->device();
  }
  std::string matrix = "operator x threads 2, 8, 16:";
  for (const Operator& op : Operators()) {
    matrix += "\n             " + std::string(op.name) + ":";
    for (const int threads : kThreads) {
      const Outcome outcome = RunInChild(std::string(op.name), threads, kWatchdog);
      matrix += " " + ToString(outcome);
      // Beyond its safe concurrency a device may do what it likes, the CPU excepted.
      if (threads <= safe || device == runtime::DeviceType::kCpu) {
        EXPECT_EQ(outcome, Outcome::kOk) << op.name << " on " << threads << " threads";
      }
    }
  }
  Report("thread_boundary", matrix);
}

TEST(BoundaryChild, TellsFailuresApart) {
  EXPECT_EQ(RunInChild("fault-crash", 1, seconds(60)), Outcome::kCrashed);
  EXPECT_EQ(RunInChild("fault-wrong", 1, seconds(60)), Outcome::kWrong);
  EXPECT_EQ(RunInChild("no-such-operator", 1, seconds(60)), Outcome::kError);
  EXPECT_EQ(RunInChild("fault-hang", 1, seconds(2)), Outcome::kHung);
}

}  // namespace
}  // namespace millrace::conformance
