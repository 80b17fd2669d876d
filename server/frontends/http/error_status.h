#pragma once

#include "absl/status/status.h"

namespace httplib {
struct Response;
}  // namespace httplib

namespace millrace::server {

// Sets Retry-After where the status has a hint when to try again.
void SetRetryAfter(httplib::Response& response, const absl::Status& status);
// Sets the HTTP status for the status of a request that failed, with what its client may do about
// it: Retry-After, or WWW-Authenticate where a key is needed. The body is the protocol's.
void SetErrorStatus(httplib::Response& response, const absl::Status& status);
// The same with the body {"error": "<message>"}.
void SendErrorStatus(httplib::Response& response, const absl::Status& status);

}  // namespace millrace::server
