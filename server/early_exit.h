#pragma once

#include "server/config/command_line.h"

namespace millrace {

// Prints the command line's result, such as its help or error, before the process ends, and returns
// the exit status. Main thread, before anything is logged.
int Report(const EarlyExit& exit);

// Returns the exit status of a program whose command ended with a status: that one, unless standard
// output could not be written, which is told. The last call of main.
int ExitStatus(int status);

}  // namespace millrace
