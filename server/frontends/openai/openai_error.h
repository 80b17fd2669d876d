#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace httplib {
struct Response;
}  // namespace httplib

namespace millrace {

// {"error": {"message", "type", "param", "code"}}; an empty param or code is null.
std::string OpenAiErrorBody(int http_status, std::string_view message, std::string_view param,
                            std::string_view code);

// Answers with a status that is not OK: its HTTP status, and the field that its message begins with
// as param. retry_after in seconds, for what may be tried again; 0: no header.
void SendOpenAiError(httplib::Response& response, const absl::Status& status, int retry_after = 0);

// The body for a status that is not OK.
std::string OpenAiErrorBody(const absl::Status& status);

}  // namespace millrace
