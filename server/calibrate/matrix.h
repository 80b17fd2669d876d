#pragma once

#include <string>

#include "mps_runtime/safety_profile.h"

namespace millrace {

// "ok", "(ok)" when it had fewer runs than it takes to be safe, or the first kind of failure with
// how many of its runs, such as "crash 1/13".
std::string CellText(const runtime::RunCounts& cell, int repeats);

// The profile as a table for people: operators and models by numbers of threads, and how many
// forwards at once are safe.
std::string Matrix(const runtime::SafetyProfile& profile);

}  // namespace millrace
