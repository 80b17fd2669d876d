#pragma once

#include <string_view>

#include "absl/status/status.h"
#include "models/core/model.h"

namespace millrace::server {

// Returns the status for a request that was alone in a step of the model which has thrown. Must be
// called in the handler of that exception. Logs long texts as LogModelFailure does.
absl::Status StepFailure(const models::Model& model);

// Logs what a model has thrown as a whole, of which clients get one line. Held back if it comes
// again and again, because requests cause it.
void LogModelFailure(const models::Model& model, std::string_view text);

}  // namespace millrace::server
