#pragma once

#include <string>

namespace millrace {

// Returns a path by which the running program can be started again. On Linux it names this very
// file, even if another one has taken its name since.
std::string ThisProgram();

}  // namespace millrace
