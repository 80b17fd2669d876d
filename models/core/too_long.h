#pragma once

#include <string>

#include "absl/status/status.h"

namespace millrace {

// Returns InvalidArgument for a text or a file that is larger than a request may have. Over HTTP it
// is a 413, by which clients know that a shorter one would do.
absl::Status TooLongError(const std::string& message);

// Returns true for such a status.
bool IsTooLong(const absl::Status& status);

}  // namespace millrace
