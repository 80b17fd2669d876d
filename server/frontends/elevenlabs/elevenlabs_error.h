#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "server/http/httplib_fwd.h"

namespace millrace::server {

// Returns ElevenLabs' word for what is wrong, such as "invalid_api_key".
std::string_view ElevenLabsErrorName(absl::StatusCode code);

// Returns the message of a status, with ElevenLabs' name for the field that it is about.
std::string ElevenLabsMessage(const absl::Status& status);

// ElevenLabs' error over HTTP is {"detail": {"status", "message"}}.
std::string ElevenLabsErrorBody(std::string_view name, std::string_view message);
// Answers with a status that is not OK, and the time after which to try again, if that is worth it.
void SendElevenLabsError(httplib::Response& response, const absl::Status& status);

}  // namespace millrace::server
