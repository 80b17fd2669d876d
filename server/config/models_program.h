#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace millrace {

// The file name of the program, written in Python, that fetches models, makes packages of them and
// removes them.
inline constexpr const char* kModelsProgram = "millrace-models";

// Returns the path of that program: in the folder of this one, or else in a folder of PATH.
// NOT_FOUND says how to install it.
absl::StatusOr<std::string> FindModelsProgram();

// Returns the option that tells that program which program has started it. With this one it
// measures what int8 costs a new voice.
std::string StartedByThisProgram();

}  // namespace millrace
