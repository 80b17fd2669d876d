#pragma once

#include <filesystem>
#include <string>

namespace millrace {

// Returns true for a file that may be executed.
bool IsProgram(const std::filesystem::path& path);

// Returns the path of the program of this name in the first folder of PATH that has it; empty if
// none has.
std::filesystem::path FindProgram(const std::string& name);

}  // namespace millrace
