// The MPS backend with a libtorch that has no pool of streams.
#include <ATen/TensorOperators.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/ones.h>
#include <gtest/gtest.h>

#include "mps_runtime/base/joining_thread.h"
#include "mps_runtime/errors.h"
#include "mps_runtime/runtime.h"
#include "tests/fakes/mps/faults.h"

namespace millrace::runtime {
namespace {

RuntimeOptions Mps(int workers) {
  RuntimeOptions options;
  options.device = DeviceType::kMps;
  options.workers = workers;
  return options;
}

TEST(MpsWithoutPoolTest, HasOneWorkerAndSaysWhy) {
  const auto runtime = Runtime::Bootstrap(Mps(4));
  EXPECT_EQ(runtime->workers(), 1);
  EXPECT_EQ(runtime->limiter().permits(), 1);
  EXPECT_NE(runtime->why_fewer_workers().find("no pool of MPS streams"), std::string::npos);
  EXPECT_NE(runtime->provenance().threads.find("workers=1"), std::string::npos);
  EXPECT_EQ(runtime->provenance().pool_symbols, "none");
}

TEST(MpsWithoutPoolTest, MoreForwardsAtOnceAreRefused) {
  RuntimeOptions options = Mps(1);
  options.max_in_flight = 2;
  try {
    Runtime::Bootstrap(options);
    ADD_FAILURE() << "two forwards at once";
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(),
                 "max_in_flight = 2: allowed are 1..1 by the policy (more only with "
                 "accept_unsafe_concurrency)");
  }
}

TEST(MpsWithoutPoolTest, APatchLevelIsRefused) {
  mps_standin::TheFaults().patch_level = 1;
  try {
    Runtime::Bootstrap(Mps(1));
    ADD_FAILURE() << "a patched libtorch without a stream pool";
  } catch (const std::runtime_error& error) {
    const std::string message = error.what();
    EXPECT_EQ(message.find("millrace_mps_patch_level() = 1 in "), 0u) << message;
    EXPECT_NE(message.find("getStreamByID"), std::string::npos) << message;
  }
  mps_standin::TheFaults().patch_level = 0;
  EXPECT_EQ(Runtime::Bootstrap(Mps(1))->provenance().mps_patch_level, 0);
}

// There is one stream: a second thread on it would share it without knowing.
TEST(MpsWithoutPoolTest, ASecondThreadIsRefused) {
  const auto runtime = Runtime::Bootstrap(Mps(4));
  JoiningThread([&] {
    const auto context = runtime->EnterWorker();
    JoiningThread([&] {
      EXPECT_THROW(runtime->EnterWorker(), StreamPoolExhausted);
      EXPECT_THROW(runtime->ForThisThread(), StreamPoolExhausted);
    }).join();
  }).join();
  JoiningThread([&] { EXPECT_NO_THROW(runtime->EnterWorker()); });
}

TEST(MpsWithoutPoolTest, TheWorkerComputes) {
  const auto runtime = Runtime::Bootstrap(Mps(1));
  JoiningThread([&] {
    const auto context = runtime->EnterWorker();
    const ForwardScope scope(*runtime, *context);
    const at::Tensor ones = at::ones({4, 4}, at::TensorOptions().device(at::kMPS));
    const at::Tensor product = ones.matmul(ones);
    context->Synchronize();
    EXPECT_TRUE(at::allclose(product.to(at::kCPU), at::ones({4, 4}) * 4));
  });
}

}  // namespace
}  // namespace millrace::runtime
