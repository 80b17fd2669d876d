#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace httplib {
struct Response;
}  // namespace httplib

namespace millrace {

// Whether a path belongs to the endpoints that OpenAI's clients know, whose errors have their
// shape.
bool IsOpenAiPath(std::string_view path);

// {"error": {"message", "type", "param", "code"}}; an empty param or code is null.
std::string OpenAiErrorBody(int http_status, std::string_view message, std::string_view param,
                            std::string_view code);

// Answers with a status that is not OK: its HTTP status, and the field that its message begins with
// as param. retry_after in seconds, for what may be tried again; 0: no header.
void SendOpenAiError(httplib::Response& response, const absl::Status& status, int retry_after = 0);

// The HTTP status and body of a status that is not OK.
int HttpStatusOf(const absl::Status& status);
std::string OpenAiErrorBody(const absl::Status& status);

}  // namespace millrace
