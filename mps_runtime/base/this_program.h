#pragma once

#include <string>

namespace millrace {

// A path by which the running program can be started again. On Linux it is that of this very file,
// even when another one has taken its name since.
std::string ThisProgram();

}  // namespace millrace
