#pragma once

#include <optional>

#include "mps_runtime/runtime.h"
#include "mps_runtime/selftest/findings.h"

namespace millrace::runtime {

// The tests for the selftest's table. Internal to the selftest.
void TestSimpleParallel(std::optional<DeviceType> device, Findings& findings);
void TestStress4x10(std::optional<DeviceType> device, Findings& findings);
void TestStress8x50(std::optional<DeviceType> device, Findings& findings);
void TestStress8x100(std::optional<DeviceType> device, Findings& findings);
void TestStress16x50(std::optional<DeviceType> device, Findings& findings);
void TestThreadBoundary(std::optional<DeviceType> device, Findings& findings);
void TestStreamAssignment(std::optional<DeviceType> device, Findings& findings);
void TestOwnStreamWait(std::optional<DeviceType> device, Findings& findings);
void TestLinearSerialAgainstPool(std::optional<DeviceType> device, Findings& findings);
void TestSpeechAndTranslationAtOnce(std::optional<DeviceType> device, Findings& findings);
void TestOverSubscription(std::optional<DeviceType> device, Findings& findings);
void TestThreadChurn(std::optional<DeviceType> device, Findings& findings);
void TestNumbersOfTheCpu(std::optional<DeviceType> device, Findings& findings);
void TestGraphsEqualEager(std::optional<DeviceType> device, Findings& findings);
void TestGraphsThatAreEvictedEqualEager(std::optional<DeviceType> device, Findings& findings);

// The options of every test, with one thread inside an operator.
inline RuntimeOptions SelftestRuntime(std::optional<DeviceType> device, int workers) {
  RuntimeOptions options;
  options.device = device;
  options.workers = workers;
  options.intra_op_threads = 1;
  return options;
}

}  // namespace millrace::runtime
