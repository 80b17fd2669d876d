#pragma once

#include "server/requests/request_run.h"

namespace httplib {
struct Response;
}  // namespace httplib

namespace millrace::server {

// Gives the answer to a request the header fields RateLimit-Policy and RateLimit, if its sender has
// limits. Must be called before the headers are sent.
void SetRateLimitHeaders(const RequestRun& run, httplib::Response& response);

}  // namespace millrace::server
