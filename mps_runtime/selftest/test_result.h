#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "mps_runtime/selftest/findings.h"

namespace millrace::runtime {

struct TestResult {
  enum class Status : uint8_t { kPassed, kFailed, kHung };

  std::string name;
  Status status = Status::kPassed;
  double seconds = 0;
  Findings::Contents findings;
};

// Returns "passed", "failed" or "hung".
std::string_view ToString(TestResult::Status status);

}  // namespace millrace::runtime
