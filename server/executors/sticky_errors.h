#pragma once

#include <string_view>

namespace millrace::server {

// Returns true for the text of a failure after which a device computes nothing more for the process
// that it happened in, so that the process has to end. Knows those of CUDA and of Metal.
bool IsStickyError(std::string_view failure);

}  // namespace millrace::server
