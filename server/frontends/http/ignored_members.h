#pragma once

#include <span>
#include <string>

namespace millrace::server {

// Returns the value of a Warning header (RFC 7234, 5.5) that names members of a request that had no
// effect, with what could harm a header replaced; at most 16 are named.
std::string IgnoredMembersWarning(std::span<const std::string> names);

}  // namespace millrace::server
