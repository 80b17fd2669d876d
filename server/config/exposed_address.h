#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace millrace {

// Returns true if other machines can reach the address; an empty one is not served.
bool IsExposed(const std::string& address);

// Returns the error for an exposed address of a server without TLS. The remedy says what else may
// be done.
absl::Status ReachableWithoutTls(std::string_view option, const std::string& address,
                                 std::string_view remedy);

}  // namespace millrace
