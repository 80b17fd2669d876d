#pragma once

#include <string>

namespace millrace {

// The program that links libtorch, in the folder of this one.
inline constexpr const char* kServerProgram = "millrace-server";

// Becomes the server program, with the same arguments, process number, descriptors and environment.
// Returns only when that fails, with the reason.
std::string ExecServerProgram(char** argv);

}  // namespace millrace
