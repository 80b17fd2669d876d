#pragma once

#include "absl/status/status.h"

namespace millrace {

// The HTTP status for a status.
int HttpStatusOf(const absl::Status& status);

}  // namespace millrace
