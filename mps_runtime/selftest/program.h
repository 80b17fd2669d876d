#pragma once

#include <cstdio>
#include <span>
#include <string>

#include "mps_runtime/selftest/selftest.h"

namespace millrace::runtime {

// The options of a program that offers the selftest.
struct SelftestProgram {
  SelftestOptions options;
  std::string filter;  // part of the names of the tests to run; empty: all
  bool json = false;
  bool list = false;  // print only the names of the tests
  std::span<const SelftestTest> tests = SelftestTests();
  std::FILE* out = stdout;  // the results
  std::FILE* err = stderr;  // progress, and errors in the filter
};

// Runs the selftest: prints text as the tests end, or one JSON document at the end. Main thread.
// Returns the exit status: 0 when all passed, 1 when not, 2 when no test matches the filter. When
// the process crashes, it names the running test on standard error.
int RunSelftestProgram(const SelftestProgram& program);

}  // namespace millrace::runtime
