#include "mps_runtime/backend/cpu/cpu_backend.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/ops/full.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/ones.h>
#include <gtest/gtest.h>

#include <barrier>
#include <stdexcept>
#include <string>

#include "mps_runtime/base/joining_thread.h"

namespace millrace::runtime {
namespace {

TEST(CpuBackendTest, KeepsABudgetForEachThread) {
  CpuBackend backend;
  std::barrier bound(2), done(2);
  const auto lane = [&](int slot, int budget) {
    backend.BindThread({DeviceType::kCpu, slot}, budget);
    bound.arrive_and_wait();
    // Large enough for a parallel region: a thread's first one reinitialises the count in libtorch.
    const at::Tensor a = at::ones({256, 256});
    EXPECT_EQ(at::matmul(a, a).sum().item<float>(), 256.0f * 256 * 256);
    EXPECT_EQ(at::get_num_threads(), budget);
    done.arrive_and_wait();
    backend.UnbindThread({DeviceType::kCpu, slot});
  };
  JoiningThread one([&] { lane(1, 1); });
  JoiningThread two([&] { lane(2, 2); });
}

TEST(CpuBackendTest, UnbindingRestoresTheThread) {
  CpuBackend backend;
  const int before = at::get_num_threads();
  backend.BindThread({DeviceType::kCpu, 0}, before + 1);
  EXPECT_EQ(at::get_num_threads(), before + 1);
  backend.UnbindThread({DeviceType::kCpu, 0});
  EXPECT_EQ(at::get_num_threads(), before);
}

TEST(CpuBackendTest, AStreamIsBoundToItsThreadOnly) {
  CpuBackend backend;
  const Stream stream{DeviceType::kCpu, 3};
  EXPECT_FALSE(backend.IsBound(stream));
  backend.BindThread(stream, 1);
  EXPECT_TRUE(backend.IsBound(stream));
  EXPECT_FALSE(backend.IsBound({DeviceType::kCpu, 4}));
  EXPECT_FALSE(backend.IsBound({DeviceType::kMps, 3}));
  JoiningThread([&] { EXPECT_FALSE(backend.IsBound(stream)); });
  backend.UnbindThread(stream);
  EXPECT_FALSE(backend.IsBound(stream));
}

TEST(CpuBackendTest, BoundThreadFlushesDenormals) {
  if (!at::globalContext().setFlushDenormal(false)) GTEST_SKIP() << "this CPU cannot";
  CpuBackend backend;
  const at::Tensor tiny = at::full({1}, 1e-40f);
  const auto keeps_tiny = [&] { return at::mul(tiny, tiny.new_ones({1})).item<float>() != 0.0f; };
  EXPECT_TRUE(keeps_tiny());
  backend.BindThread({DeviceType::kCpu, 0}, 1);
  const bool kept = keeps_tiny();
  backend.UnbindThread({DeviceType::kCpu, 0});
  EXPECT_FALSE(kept);
  EXPECT_TRUE(keeps_tiny());
}

TEST(CpuBackendTest, BootstrapMayBeRepeated) {
  CpuBackend().Bootstrap();
  CpuBackend().Bootstrap();
  EXPECT_EQ(at::get_num_interop_threads(), 1);
}

TEST(MakeBackendTest, FindsTheCpu) {
  EXPECT_EQ(MakeBackend(DeviceType::kCpu)->device(), DeviceType::kCpu);
  EXPECT_GE(MakeBackend(DeviceType::kCpu)->SafeConcurrency(), 1);
  EXPECT_NE(MakeBackend(std::nullopt), nullptr);
}

// MPS is never there on Linux, CUDA never on a Mac.
TEST(MakeBackendTest, NamesWhatIsAllowed) {
#ifdef __APPLE__
  constexpr DeviceType kAbsent = DeviceType::kCuda;
#else
  constexpr DeviceType kAbsent = DeviceType::kMps;
#endif
  try {
    MakeBackend(kAbsent);
    FAIL() << "a backend that cannot be there";
  } catch (const std::invalid_argument& error) {
    const std::string message = error.what();
    EXPECT_EQ(message.find("device = " + std::string(ToString(kAbsent))), 0u) << message;
    EXPECT_NE(message.find("allowed are auto"), std::string::npos) << message;
    EXPECT_NE(message.find("cpu"), std::string::npos) << message;
  }
}

}  // namespace
}  // namespace millrace::runtime
