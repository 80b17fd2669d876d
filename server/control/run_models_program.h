#pragma once

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace millrace::server {

// Runs the program millrace-models, passes each line of its output to `take`, and returns its exit
// status. Waits for the end, but only briefly once `stop` returns true, which is called several
// times a second: the result is then CANCELLED.
absl::StatusOr<int> RunModelsProgram(const std::vector<std::string>& arguments,
                                     const std::function<void(const std::string&)>& take,
                                     const std::function<bool()>& stop);

}  // namespace millrace::server
