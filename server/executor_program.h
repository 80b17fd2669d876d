#pragma once

#include <optional>

namespace millrace::server {

// Call it at the start of main. If a server started the program as an executor, it runs that and
// returns the exit status.
std::optional<int> ExecutorMain(int argc, char** argv);

}  // namespace millrace::server
