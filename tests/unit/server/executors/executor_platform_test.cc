#include "server/executors/executor_platform.h"

#include <gtest/gtest.h>

#include <optional>
#include <stdexcept>

#include "mps_runtime/runtime.h"

namespace millrace::server {
namespace {

using runtime::DeviceType;
using runtime::Runtime;
using runtime::RuntimeOptions;

RuntimeOptions On(std::optional<DeviceType> device) {
  RuntimeOptions options;
  options.device = device;
  options.workers = 3;
  return options;
}

TEST(ExecutorPlatformTest, IsTheProcessorWithALaneForEachWorker) {
  const auto runtime = Runtime::Bootstrap(On(std::nullopt), ExecutorPlatform());
  EXPECT_EQ(runtime->device(), DeviceType::kCpu);
  EXPECT_EQ(runtime->workers(), 3);
  EXPECT_EQ(runtime->provenance().libtorch_version, runtime->provenance().compiled_against);
  const auto context = runtime->EnterMainThread();
  const runtime::ForwardScope scope(*runtime, *context);
  EXPECT_EQ(runtime->limiter().in_use(), 1);
}

TEST(ExecutorPlatformTest, LeavesTheLimitsOfOtherDevicesToExecutors) {
  for (const DeviceType device : {DeviceType::kCuda, DeviceType::kMps}) {
    const auto runtime = Runtime::Bootstrap(On(device), ExecutorPlatform());
    EXPECT_EQ(runtime->device(), device);
    EXPECT_EQ(runtime->workers(), 3);
    EXPECT_EQ(runtime->limiter().permits(), runtime::kWorkerSlots);
    EXPECT_EQ(runtime->mode(), runtime::ForwardMode::kParallel);
    const auto context = runtime->EnterMainThread();
    const runtime::ForwardScope scope(*runtime, *context);
  }
}

TEST(ExecutorPlatformTest, RefusesAnotherLibtorchThanTheRequiredOne) {
  RuntimeOptions options = On(DeviceType::kCpu);
  options.require_libtorch = "1.0";
  EXPECT_THROW(Runtime::Bootstrap(options, ExecutorPlatform()), std::runtime_error);
}

}  // namespace
}  // namespace millrace::server
