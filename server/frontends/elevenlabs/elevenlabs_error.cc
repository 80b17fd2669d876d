#include "server/frontends/elevenlabs/elevenlabs_error.h"

#include <utility>

#include "httplib.h"
#include "nlohmann/json.hpp"
#include "server/frontends/http/error_status.h"
#include "server/http/http_status.h"
#include "server/json/json_text.h"
#include "server/requests/field_names.h"

namespace millrace::server {

std::string_view ElevenLabsErrorName(absl::StatusCode code) {
  switch (code) {
    case absl::StatusCode::kUnauthenticated:
      return "invalid_api_key";
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kOutOfRange:
      return "invalid_request";
    case absl::StatusCode::kNotFound:
      return "model_not_found";
    case absl::StatusCode::kResourceExhausted:
      return "too_many_concurrent_requests";
    case absl::StatusCode::kUnavailable:
      return "system_busy";
    case absl::StatusCode::kDeadlineExceeded:
      return "timeout";
    case absl::StatusCode::kCancelled:
      return "cancelled";
    default:
      return "internal_error";
  }
}

std::string ElevenLabsMessage(const absl::Status& status) {
  constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {"model", "model_id"},
      {"voice", "voice_id"},
      {"language", "language_code"},
      {"speed", "voice_settings.speed"}};
  return MessageWithNames(status, kNames);
}

std::string ElevenLabsErrorBody(std::string_view name, std::string_view message) {
  const nlohmann::ordered_json body = {{"detail", {{"status", name}, {"message", message}}}};
  // A message may repeat the client's bytes, which need not be UTF-8.
  return JsonText(body);
}

void SendElevenLabsError(httplib::Response& response, const absl::Status& status) {
  response.status = HttpStatusOf(status);
  SetRetryAfter(response, status);
  response.set_content(
      ElevenLabsErrorBody(ElevenLabsErrorName(status.code()), ElevenLabsMessage(status)),
      "application/json");
}

}  // namespace millrace::server
