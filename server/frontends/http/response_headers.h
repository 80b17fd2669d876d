#pragma once

#include <span>
#include <string>

#include "server/http/httplib_fwd.h"
#include "server/requests/request_run.h"

namespace millrace::server {

// Returns the value of a Warning header (RFC 7234, 5.5) that names members of a request that had no
// effect, with what could harm a header replaced; at most 16 are named.
std::string IgnoredMembersWarning(std::span<const std::string> names);

// Gives the answer to a request the header fields RateLimit-Policy and RateLimit, if its sender has
// limits. Must be called before the headers are sent.
void SetRateLimitHeaders(const RequestRun& run, httplib::Response& response);

}  // namespace millrace::server
