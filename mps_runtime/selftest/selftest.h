#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mps_runtime/provenance.h"
#include "mps_runtime/selftest/findings.h"
#include "mps_runtime/selftest/support.h"
#include "mps_runtime/selftest/system_info.h"
#include "mps_runtime/selftest/test_result.h"
#include "mps_runtime/selftest/tests.h"
#include "mps_runtime/stream.h"

namespace millrace::runtime {

struct SelftestReport {
  Provenance provenance;  // without device and threads when Bootstrap failed
  SystemInfo system;
  std::optional<SupportFacts> facts;  // nullopt when Bootstrap failed
  std::string error;                  // why no test could run; empty: they ran
  std::vector<TestResult> results;
  std::vector<std::string> not_run;  // because of an error, or because one before them hung
  double seconds = 0;

  bool passed() const;
};

struct SelftestOptions {
  std::optional<DeviceType> device;  // nullopt: the best that is available
  // A test that makes no progress for this long hangs. Longer than the watchdog of a child process.
  std::chrono::milliseconds hang_after = std::chrono::minutes(5);
  std::chrono::milliseconds progress_every = std::chrono::seconds(5);
  int require_patch_level = 0;  // no test runs when libtorch's MPS backend has less
};

// Called as the run proceeds, never two at once. on_progress and on_hang are called on a thread of
// their own.
struct SelftestCallbacks {
  // The device and the system are known: provenance and system are set.
  std::function<void(const SelftestReport&)> on_start = [](auto&) {};
  // A test begins; also called for the first use of the device, as "Bootstrap".
  std::function<void(std::string_view name)> on_begin = [](auto) {};
  // A test has run for this many seconds and is at this step (which may be empty).
  std::function<void(std::string_view name, double seconds, std::string_view step)> on_progress =
      [](auto&&...) {};
  std::function<void(const TestResult&)> on_result = [](auto&) {};
  // A test hangs, perhaps in a driver, and nothing can end it; it is the last result of the report.
  // When this returns, the process ends with status 1.
  std::function<void(const SelftestReport&)> on_hang = [](auto&) {};
};

// Returns the tests whose name contains the filter.
std::vector<SelftestTest> Matching(std::span<const SelftestTest> tests, std::string_view filter);

// Runs one test; an exception is a failure.
TestResult RunTest(const SelftestTest& test, const SelftestSetup& setup, Findings& findings);

// Runs the tests one after the other. Main thread; no other Runtime may exist. A test that hangs
// ends the process, see on_hang. Does not throw for what a test or the device does.
SelftestReport RunSelftest(std::span<const SelftestTest> tests, const SelftestOptions& options,
                           const SelftestCallbacks& callbacks);

}  // namespace millrace::runtime
