#pragma once

#include "server/config/commands.h"

namespace millrace {

// Finds how many forwards at once this machine survives, for each operator and model, in child
// processes; prints the table on standard output and how it goes on standard error, and writes the
// safety profile. A signal ends it at once; what is done is kept for the next time. Main thread;
// takes minutes to hours. Returns the exit status: 128 and the signal's number when it was
// interrupted.
int RunCalibrate(const CalibrateCommand& command);

}  // namespace millrace
