#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "mps_runtime/selftest/findings.h"
#include "mps_runtime/stream.h"

namespace millrace::runtime {

// The device that a test runs on, and its concurrency.
struct SelftestSetup {
  std::optional<DeviceType> device = {};  // nullopt: the best that is available
  // Forwards at once, which may be more than are held safe; nullopt: as many as are held safe.
  std::optional<int> max_in_flight = {};
};

// A test that every backend must pass. It makes its own Runtime: the main thread runs it, and no
// other Runtime may exist. Throws what the runtime throws, which counts as a failure.
struct SelftestTest {
  std::string_view name;
  std::string_view shows;  // the property that it shows, in a few words
  void (*run)(const SelftestSetup& setup, Findings& findings);
};

// Returns all tests in the order in which they run.
std::span<const SelftestTest> SelftestTests();

}  // namespace millrace::runtime
