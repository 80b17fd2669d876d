#pragma once

#include "server/config/command_line.h"

namespace millrace {

// Prints the command line's result, such as its help or error, before the process ends, and returns
// the exit status. Main thread, before anything is logged.
int Report(const EarlyExit& exit);

}  // namespace millrace
