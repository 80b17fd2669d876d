#pragma once

#include <string>

#include "mps_runtime/selftest/selftest.h"

namespace millrace::runtime {

// Reports for people, which end with a line break.
std::string StartLines(const SelftestReport& report);  // the device and system that it runs on
std::string ResultLines(const TestResult& result);     // one line, and one for each failure
// A table of SupportRows, at most 120 columns wide; empty when the device could not be used.
std::string SupportLines(const SelftestReport& report);
std::string SummaryLines(const SelftestReport& report);

// Returns the whole report for programs, as one JSON document. Its schema_version changes when a
// field changes its meaning or is removed, not when one is added.
std::string ToJson(const SelftestReport& report);

}  // namespace millrace::runtime
