#pragma once

#include <string>

#include "mps_runtime/safety_profile.h"

namespace millrace {

// Returns "ok", "(ok)" if it had fewer runs than it takes to be safe, or the first kind of failure
// with its number of runs, such as "crash 1/13".
std::string CellText(const runtime::RunCounts& cell, int repeats);

// Returns the profile as a table for people: operators and models by number of threads, and how
// many concurrent forwards are safe.
std::string Matrix(const runtime::SafetyProfile& profile);

}  // namespace millrace
