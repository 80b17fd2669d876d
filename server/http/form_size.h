#pragma once

#include <string_view>

#include "absl/status/status.h"

namespace millrace {

// Returns InvalidArgument for a body of application/x-www-form-urlencoded with more members than
// any request needs. One of two bytes takes a hundred or more once it is parsed, so the size of the
// body alone bounds no memory.
absl::Status CheckFormSize(std::string_view body);

}  // namespace millrace
