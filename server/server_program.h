#pragma once

#include <string>

namespace millrace {

// The file name of the program that links libtorch, which is in the folder of this one.
inline constexpr const char* kServerProgram = "millrace-server";

// Executes the server program with the same arguments, process number, descriptors and environment.
// Returns only if that fails, with the reason.
std::string ExecServerProgram(char** argv);

}  // namespace millrace
