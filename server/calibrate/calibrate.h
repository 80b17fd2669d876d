#pragma once

#include "server/config/commands.h"

namespace millrace {

// Finds how many concurrent forwards this machine survives, for each operator and model, in child
// processes. Prints the table on standard output and the progress on standard error, and writes the
// safety profile. A signal ends it at once; finished cells are kept for the next run. Main thread;
// takes minutes to hours. Returns the exit status: 128 plus the signal's number if it was
// interrupted.
int RunCalibrate(const CalibrateCommand& command);

}  // namespace millrace
