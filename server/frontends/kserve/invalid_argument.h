#pragma once

#include "absl/status/status.h"
#include "models/core/errors.h"

namespace millrace::server {

// Returns InvalidArgument with the parts as its message.
template <typename... Parts>
absl::Status InvalidArgument(const Parts&... parts) {
  return InvalidArgument(parts...);
}

}  // namespace millrace::server
