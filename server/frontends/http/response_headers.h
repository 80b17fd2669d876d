#pragma once

#include <string>

#include "server/http/httplib_fwd.h"
#include "server/requests/request_run.h"

namespace millrace::server {

// Gives the answer a Warning header, beside those that it has, unless the warning is empty.
void AddWarning(const std::string& warning, httplib::Response& response);

// Gives the answer to a request the header fields RateLimit-Policy and RateLimit, if its sender has
// limits. Must be called before the headers are sent.
void SetRateLimitHeaders(const RequestRun& run, httplib::Response& response);

}  // namespace millrace::server
