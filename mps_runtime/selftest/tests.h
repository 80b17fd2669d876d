#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "mps_runtime/selftest/findings.h"
#include "mps_runtime/stream.h"

namespace millrace::runtime {

// A test of what every backend must show. It makes its own Runtime: the main thread runs it, and no
// other Runtime may live. Throws what the runtime throws, which is a failure too.
struct SelftestTest {
  std::string_view name;
  std::string_view shows;  // for people, in a few words
  void (*run)(std::optional<DeviceType> device, Findings& findings);
};

// All of them, in the order in which they run.
std::span<const SelftestTest> SelftestTests();

}  // namespace millrace::runtime
