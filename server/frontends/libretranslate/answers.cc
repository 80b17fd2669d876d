#include "server/frontends/libretranslate/answers.h"

#include <utility>

#include "httplib.h"
#include "server/frontends/http/error_status.h"
#include "server/http/http_server.h"
#include "server/requests/field_names.h"

namespace millrace::server {
namespace {

constexpr std::pair<std::string_view, std::string_view> kNames[] = {
    {"source_language, target_language", "source, target"},
    {"texts", "q"},
    {"source_language", "source"},
    {"target_language", "target"}};

}  // namespace

std::string LibreTranslateMessage(const absl::Status& status) {
  return MessageWithNames(status, kNames);
}

void SendStatus(httplib::Response& response, const absl::Status& status) {
  SetTranslationErrorStatus(response, status);
  SendError(response, response.status, LibreTranslateMessage(status));
}

void SendJson(httplib::Response& response, const std::string& body) {
  response.set_content(body, "application/json");
}

absl::Status CheckKey(const httplib::Request& request, const ApiKeyStore* keys,
                      std::string_view api_key) {
  if (keys != nullptr && keys->Authenticate(api_key).has_value()) return absl::OkStatus();
  if (AuthenticateHttp(request, keys).ok()) return absl::OkStatus();
  const bool sent =
      !api_key.empty() || request.has_header("Authorization") || request.has_header("X-Api-Key");
  return absl::UnauthenticatedError(
      sent ? "api_key: the API key is not known"
           : "api_key: is missing; a key is needed, as this member, as `authorization: Bearer "
             "<key>` or as `x-api-key: <key>`");
}

}  // namespace millrace::server
