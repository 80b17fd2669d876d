#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "server/http/httplib_fwd.h"

namespace millrace::server {

// DeepL's error object is {"message": "..."}.
std::string DeepLErrorBody(std::string_view message);

// Returns the message of a status, with DeepL's names of fields.
std::string DeepLErrorMessage(const absl::Status& status);

// Answers with a status that is not OK. DeepL knows neither 401 nor a 404 of a language.
void SendDeepLError(httplib::Response& response, const absl::Status& status);

}  // namespace millrace::server
