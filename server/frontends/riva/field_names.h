#pragma once

#include "absl/status/status.h"

namespace millrace::server {

// Returns the status with Riva's name of the field that its message begins with, instead of ours,
// if the two differ.
absl::Status WithRivaFieldName(const absl::Status& status);

}  // namespace millrace::server
