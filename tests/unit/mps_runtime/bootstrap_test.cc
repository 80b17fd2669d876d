// Tests of the options that Bootstrap accepts, refuses and chooses.

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "mps_runtime/base/cpu_info.h"
#include "mps_runtime/base/joining_thread.h"
#include "mps_runtime/errors.h"
#include "mps_runtime/runtime.h"
#include "tests/unit/mps_runtime/cpu_options.h"

namespace millrace::runtime {
namespace {

// The message of the refusal; empty when the options were accepted.
std::string RefusalOf(const RuntimeOptions& options) {
  try {
    Runtime::Bootstrap(options);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return {};
}

TEST(BootstrapTest, TellsWhatItChose) {
  RuntimeOptions options = Cpu();
  options.mode = ForwardMode::kSerial;
  options.workers = 2;
  const auto runtime = Runtime::Bootstrap(options);
  EXPECT_EQ(runtime->device(), DeviceType::kCpu);
  EXPECT_EQ(runtime->mode(), ForwardMode::kSerial);
  EXPECT_EQ(runtime->limiter().permits(), AvailableCores());
  EXPECT_EQ(runtime->safe_concurrency_source(), "policy");
  EXPECT_EQ(runtime->intra_op_threads(), std::max(1, AvailableCores() / 2));
  EXPECT_EQ(runtime->provenance().device, "cpu");
  EXPECT_NE(runtime->provenance().threads.find("workers=2"), std::string::npos);
}

TEST(BootstrapTest, GivesEachCoreAWorkerWhenNoNumberIsAsked) {
  RuntimeOptions options = Cpu();
  options.workers = 0;
  const auto runtime = Runtime::Bootstrap(options);
  EXPECT_EQ(runtime->workers(), std::min(AvailableCores(), kWorkerSlots));
  EXPECT_EQ(runtime->why_fewer_workers(), "");
}

TEST(BootstrapTest, MoreWorkersThanCoresStillHaveOneThreadEach) {
  RuntimeOptions options = Cpu();
  options.workers = kWorkerSlots;
  EXPECT_EQ(Runtime::Bootstrap(options)->intra_op_threads(),
            std::max(1, AvailableCores() / kWorkerSlots));
}

TEST(BootstrapTest, WorkersThatOnlyWaitForAPermitTakeNoCores) {
  RuntimeOptions options = Cpu();
  options.workers = kWorkerSlots;
  options.max_in_flight = 1;
  EXPECT_EQ(Runtime::Bootstrap(options)->intra_op_threads(), AvailableCores());
}

TEST(BootstrapTest, OnlyOneAtATime) {
  const auto runtime = Runtime::Bootstrap(Cpu());
  EXPECT_THROW(Runtime::Bootstrap(Cpu()), StreamError);
}

TEST(BootstrapTest, MayBeRepeatedAfterTheFirstIsGone) {
  Runtime::Bootstrap(Cpu()).reset();
  EXPECT_NE(Runtime::Bootstrap(Cpu()), nullptr);
}

TEST(BootstrapTest, IsForTheMainThread) {
  Runtime::Bootstrap(Cpu()).reset();
  JoiningThread([] { EXPECT_THROW(Runtime::Bootstrap(Cpu()), StreamError); });
}

TEST(BootstrapTest, RefusesWorkersOutOfRange) {
  for (const int workers : {-1, 32}) {
    RuntimeOptions options = Cpu();
    options.workers = workers;
    EXPECT_EQ(RefusalOf(options), "workers = " + std::to_string(workers) + ": allowed are 0..31");
  }
}

TEST(BootstrapTest, RefusesConcurrencyAboveThePolicy) {
  const int safe = AvailableCores();
  RuntimeOptions options = Cpu();
  options.max_in_flight = safe + 1;
  const std::string message = RefusalOf(options);
  EXPECT_EQ(message.find("max_in_flight = " + std::to_string(safe + 1) + ": allowed are 1.." +
                         std::to_string(safe)),
            0u)
      << message;
  for (const int bad : {0, -1, 32}) {
    options.max_in_flight = bad;
    options.accept_unsafe_concurrency = true;
    EXPECT_NE(RefusalOf(options), "") << bad;
  }
}

TEST(BootstrapTest, OperatorMayLowerConcurrencyAndRaiseItKnowingly) {
  RuntimeOptions options = Cpu();
  options.max_in_flight = 1;
  {
    const auto runtime = Runtime::Bootstrap(options);
    EXPECT_EQ(runtime->limiter().permits(), 1);
    EXPECT_EQ(runtime->safe_concurrency_source(), "flag");
  }
  options.max_in_flight = AvailableCores() + 3;
  options.accept_unsafe_concurrency = true;
  EXPECT_EQ(Runtime::Bootstrap(options)->limiter().permits(), AvailableCores() + 3);
}

TEST(BootstrapTest, MeasuredConcurrencyTakesThePlaceOfThePolicy) {
  RuntimeOptions options = Cpu();
  DeviceFacts asked;
  options.measured_concurrency = [&](const DeviceFacts& facts) {
    asked = facts;
    return 1;
  };
  {
    const auto runtime = Runtime::Bootstrap(options);
    EXPECT_EQ(runtime->limiter().permits(), 1);
    EXPECT_EQ(runtime->safe_concurrency_source(), "profile");
    EXPECT_EQ(runtime->intra_op_threads(), AvailableCores());
  }
  EXPECT_EQ(asked.provenance.device, "cpu");
  EXPECT_EQ(asked.provenance.device_name, CpuModelName());
  EXPECT_NE(asked.provenance.libtorch_version, "");
  EXPECT_EQ(asked.policy_concurrency, AvailableCores());

  options.measured_concurrency = [](const DeviceFacts&) { return std::nullopt; };
  const auto runtime = Runtime::Bootstrap(options);
  EXPECT_EQ(runtime->limiter().permits(), AvailableCores());
  EXPECT_EQ(runtime->safe_concurrency_source(), "policy");
}

TEST(BootstrapTest, MeasuredConcurrencyNeverExceedsWhatTheDeviceCanUse) {
  RuntimeOptions options = Cpu();
  options.measured_concurrency = [](const DeviceFacts&) { return kWorkerSlots; };
  EXPECT_EQ(Runtime::Bootstrap(options)->limiter().permits(),
            std::min(AvailableCores(), kWorkerSlots));
}

TEST(BootstrapTest, RefusesConcurrencyAboveWhatWasMeasured) {
  RuntimeOptions options = Cpu();
  options.measured_concurrency = [](const DeviceFacts&) { return 1; };
  options.max_in_flight = 2;
  EXPECT_EQ(RefusalOf(options),
            "max_in_flight = 2: allowed are 1..1 by the profile (more only with "
            "accept_unsafe_concurrency)");
  options.accept_unsafe_concurrency = true;
  const auto runtime = Runtime::Bootstrap(options);
  EXPECT_EQ(runtime->limiter().permits(), 2);
  EXPECT_EQ(runtime->safe_concurrency_source(), "flag");
}

TEST(BootstrapTest, RefusesMeasuredConcurrencyOutOfRange) {
  for (const int measured : {0, -1, kWorkerSlots + 1, 1'000'000'000}) {
    RuntimeOptions options = Cpu();
    options.measured_concurrency = [=](const DeviceFacts&) { return measured; };
    EXPECT_EQ(RefusalOf(options),
              "measured_concurrency = " + std::to_string(measured) + ": allowed are 1..31");
  }
}

TEST(DescribeTest, TellsOfTheDeviceWithoutABootstrap) {
  const DeviceFacts facts = Runtime::Describe(DeviceType::kCpu);
  EXPECT_EQ(facts.provenance.device, "cpu");
  EXPECT_EQ(facts.useful_concurrency, AvailableCores());
  EXPECT_NO_THROW(Runtime::Bootstrap(Cpu()));
  EXPECT_THROW(Runtime::Describe(DeviceType::kCpu, "1.0"), std::runtime_error);
}

TEST(BootstrapTest, RefusesNegativeIntraOpThreads) {
  RuntimeOptions options = Cpu();
  options.intra_op_threads = -1;
  EXPECT_EQ(RefusalOf(options).find("intra_op_threads = -1: allowed are"), 0u);
}

TEST(BootstrapTest, RefusesAnotherLibtorchThanRequired) {
  RuntimeOptions options = Cpu();
  options.require_libtorch = "1.0";
  EXPECT_THROW(Runtime::Bootstrap(options), std::runtime_error);
}

TEST(BootstrapTest, RefusalLeavesRoomForAnotherTry) {
  RuntimeOptions bad = Cpu();
  bad.workers = -1;
  EXPECT_THROW(Runtime::Bootstrap(bad), std::invalid_argument);
  EXPECT_NO_THROW(Runtime::Bootstrap(Cpu()));
}

}  // namespace
}  // namespace millrace::runtime
