#include <ATen/TensorOperators.h>
#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>

#include "mps_runtime/errors.h"
#include "mps_runtime/probe/operator_probe.h"
#include "mps_runtime/probe/operators.h"
#include "mps_runtime/probe/run_workers.h"
#include "mps_runtime/probe/tensors.h"

namespace millrace::runtime {
namespace {

using std::chrono::seconds;

std::unique_ptr<Runtime> CpuRuntime() {
  RuntimeOptions options;
  options.device = DeviceType::kCpu;
  return Runtime::Bootstrap(options);
}

std::string InChild(const std::string& op, int threads) {
  return Describe(RunOperatorInChild(
      {.op = op, .threads = threads, .iterations = 3, .device = DeviceType::kCpu},
      {.watchdog = seconds(120), .capture_last_line = true}));
}

TEST(OperatorProbeTest, RunsEachOperatorInAChild) {
  for (const Operator& op : Operators()) EXPECT_EQ(InChild(std::string(op.name), 2), "ok");
}

TEST(OperatorProbeTest, ErrorOfTheChildIsToldInItsWords) {
  const std::string unknown = InChild("matmull", 2);
  EXPECT_EQ(unknown.find("error: matmull on 2 threads: operator matmull: allowed are matmul, "), 0u)
      << unknown;
  EXPECT_EQ(InChild("gelu", 32), "error: gelu on 32 threads: workers = 32: allowed are 0..31");
}

TEST(OperatorProbeTest, ArgumentsOfOthersAreNotItsBusiness) {
  std::string program = "millrace", command = "--operator-probe";
  char* argv[] = {program.data(), command.data(), nullptr};
  EXPECT_EQ(OperatorProbeMain(2, argv), std::nullopt);
}

TEST(RunWorkersTest, RunsEachBodyOnAThreadWithAStreamOfItsOwn) {
  const auto runtime = CpuRuntime();
  std::atomic<uint32_t> slots{0};
  RunWorkers(*runtime, kWorkerSlots,
             [&](int, WorkerContext& context) { slots |= uint32_t{1} << context.stream().slot; });
  EXPECT_EQ(slots, 0xFFFFFFFE);
  EXPECT_EQ(runtime->stream_pool().stats().leased, 0);
}

TEST(RunWorkersTest, RunsNoneWhenOneHasNoContext) {
  const auto runtime = CpuRuntime();
  std::atomic<int> ran{0};
  EXPECT_THROW(RunWorkers(*runtime, kWorkerSlots + 1, [&](int, WorkerContext&) { ++ran; }),
               StreamPoolExhausted);
  EXPECT_EQ(ran, 0);
  EXPECT_EQ(runtime->stream_pool().stats().leased, 0);
}

TEST(RunWorkersTest, RethrowsWhatABodyThrows) {
  const auto runtime = CpuRuntime();
  std::atomic<int> ran{0};
  EXPECT_THROW(RunWorkers(*runtime, 4,
                          [&](int thread, WorkerContext&) {
                            ++ran;
                            if (thread == 2) throw std::domain_error("body 2");
                          }),
               std::domain_error);
  EXPECT_EQ(ran, 4);
}

TEST(SameNumbersTest, IsExactOnTheCpuAloneAndNeverForAnotherShape) {
  const at::Tensor numbers = Numbers({4, 8}, at::kCPU, 1);
  const at::Tensor near = numbers + 1e-5;
  EXPECT_TRUE(SameNumbers(numbers, Numbers({4, 8}, at::kCPU, 1), DeviceType::kCpu));
  EXPECT_FALSE(SameNumbers(numbers, near, DeviceType::kCpu));
  EXPECT_TRUE(SameNumbers(numbers, near, DeviceType::kCuda));
  EXPECT_FALSE(SameNumbers(numbers, numbers + 0.1, DeviceType::kCuda));
  EXPECT_FALSE(SameNumbers(numbers, numbers.view({8, 4}), DeviceType::kCuda));
  EXPECT_FALSE(SameNumbers(numbers, Numbers({4, 8}, at::kCPU, 2), DeviceType::kCuda));
}

}  // namespace
}  // namespace millrace::runtime

int main(int argc, char** argv) {
  if (const auto status = millrace::runtime::OperatorProbeMain(argc, argv)) return *status;
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
