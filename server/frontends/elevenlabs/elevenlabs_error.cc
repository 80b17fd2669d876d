#include "server/frontends/elevenlabs/elevenlabs_error.h"

#include <utility>

#include "httplib.h"
#include "models/core/lookup.h"
#include "nlohmann/json.hpp"
#include "server/frontends/http/error_status.h"
#include "server/http/http_status.h"
#include "server/json/json_text.h"
#include "server/requests/field_names.h"

namespace millrace::server {

std::string_view ElevenLabsErrorName(absl::StatusCode code) {
  using Code = absl::StatusCode;
  static constexpr std::pair<Code, std::string_view> kNames[] = {
      {Code::kUnauthenticated, "invalid_api_key"},
      {Code::kInvalidArgument, "invalid_request"},
      {Code::kFailedPrecondition, "invalid_request"},
      {Code::kOutOfRange, "invalid_request"},
      {Code::kNotFound, "model_not_found"},
      {Code::kResourceExhausted, "too_many_concurrent_requests"},
      {Code::kUnavailable, "system_busy"},
      {Code::kDeadlineExceeded, "timeout"},
      {Code::kCancelled, "cancelled"}};
  return ValueOf(kNames, code, std::string_view("internal_error"));
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
