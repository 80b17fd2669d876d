#pragma once

#include <cstdio>
#include <span>
#include <string>

#include "mps_runtime/selftest/selftest.h"

namespace millrace::runtime {

// What a program that offers the selftest was asked for.
struct SelftestProgram {
  SelftestOptions options;
  std::string filter;  // part of the names of the tests to run; empty: all
  bool json = false;
  bool list = false;  // only the tests' names
  std::span<const SelftestTest> tests = SelftestTests();
  std::FILE* out = stdout;  // the results
  std::FILE* err = stderr;  // progress, and what is wrong with the filter
};

// Runs it: text as the tests end, or one JSON document at the end. Main thread. Returns the exit
// status: 0 all passed, 1 not, 2 a filter that no test matches. Tells on standard error which test
// ran when the process crashes.
int RunSelftestProgram(const SelftestProgram& program);

}  // namespace millrace::runtime
