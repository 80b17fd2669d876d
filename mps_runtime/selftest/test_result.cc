#include "mps_runtime/selftest/test_result.h"

#include "mps_runtime/base/check.h"

namespace millrace::runtime {

std::string_view ToString(TestResult::Status status) {
  switch (status) {
    case TestResult::Status::kPassed:
      return "passed";
    case TestResult::Status::kFailed:
      return "failed";
    case TestResult::Status::kHung:
      return "hung";
  }
  MILLRACE_UNREACHABLE();
}

}  // namespace millrace::runtime
