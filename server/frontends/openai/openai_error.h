#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "server/http/httplib_fwd.h"

namespace millrace {

// OpenAI's error object is {"error": {"message", "type", "param", "code"}}; an empty param or code
// is null.
std::string OpenAiErrorBody(int http_status, std::string_view message, std::string_view param,
                            std::string_view code);

// Answers with a status that is not OK: its HTTP status, the field that its message begins with as
// param, and the time after which to try again, if that is worth it.
void SendOpenAiError(httplib::Response& response, const absl::Status& status);

// Returns the body for a status that is not OK.
std::string OpenAiErrorBody(const absl::Status& status);

}  // namespace millrace
