#pragma once

#include "mps_runtime/runtime.h"
#include "mps_runtime/selftest/findings.h"
#include "mps_runtime/selftest/tests.h"

namespace millrace::runtime {

// The tests for the selftest's table. Internal to the selftest.
void TestSimpleParallel(const SelftestSetup& setup, Findings& findings);
void TestStress4x10(const SelftestSetup& setup, Findings& findings);
void TestStress8x50(const SelftestSetup& setup, Findings& findings);
void TestStress8x100(const SelftestSetup& setup, Findings& findings);
void TestStress16x50(const SelftestSetup& setup, Findings& findings);
void TestThreadBoundary(const SelftestSetup& setup, Findings& findings);
void TestEncodersOnTheQueue(const SelftestSetup& setup, Findings& findings);
void TestStreamAssignment(const SelftestSetup& setup, Findings& findings);
void TestOwnStreamWait(const SelftestSetup& setup, Findings& findings);
void TestLinearSerialAgainstPool(const SelftestSetup& setup, Findings& findings);
void TestSpeechAndTranslationAtOnce(const SelftestSetup& setup, Findings& findings);
void TestOverSubscription(const SelftestSetup& setup, Findings& findings);
void TestThreadChurn(const SelftestSetup& setup, Findings& findings);
void TestNumbersOfTheCpu(const SelftestSetup& setup, Findings& findings);
void TestGraphsEqualEager(const SelftestSetup& setup, Findings& findings);
void TestGraphsThatAreEvictedEqualEager(const SelftestSetup& setup, Findings& findings);

// The options of every test, with one thread inside an operator.
inline RuntimeOptions SelftestRuntime(const SelftestSetup& setup, int workers) {
  RuntimeOptions options;
  options.device = setup.device;
  options.workers = workers;
  options.max_in_flight = setup.max_in_flight;
  options.accept_unsafe_concurrency = setup.max_in_flight.has_value();
  options.intra_op_threads = 1;
  return options;
}

}  // namespace millrace::runtime
