#pragma once

#include <string>

#include "mps_runtime/selftest/selftest.h"

namespace millrace::runtime {

// A report for people. Each ends with a line break.
std::string StartLines(const SelftestReport& report);  // on what it runs
std::string ResultLines(const TestResult& result);     // one line, and one for each failure
std::string SummaryLines(const SelftestReport& report);

// The same for programs, as one JSON document with all of the report. Its schema_version changes
// when a field changes its meaning or goes, not when one is added.
std::string ToJson(const SelftestReport& report);

}  // namespace millrace::runtime
