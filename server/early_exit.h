#pragma once

#include "server/config/command_line.h"

namespace millrace {

// Prints what the command line's reader has to say before the process ends, and returns the exit
// status. Main thread, before anything was logged.
int Report(const EarlyExit& exit);

}  // namespace millrace
