#include "server/frontends/openai/openai_error.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "httplib.h"
#include "models/core/lookup.h"
#include "models/core/strings.h"
#include "nlohmann/json.hpp"
#include "server/frontends/http/error_status.h"
#include "server/http/http_status.h"
#include "server/json/json_text.h"
#include "server/scheduling/refusal.h"

namespace millrace {
namespace {

// A message such as "speed: is ..." is about the field speed; one without such a beginning is about
// none.
std::string_view FieldOf(std::string_view message) {
  const size_t colon = message.find(": ");
  if (colon == std::string_view::npos || colon == 0) return {};
  const std::string_view field = message.substr(0, colon);
  const bool name = std::all_of(field.begin(), field.end(),
                                [](char c) { return c == '_' || (c >= 'a' && c <= 'z'); });
  return name ? field : std::string_view();
}

std::string_view CodeOf(absl::StatusCode code) {
  using Code = absl::StatusCode;
  static constexpr std::pair<Code, std::string_view> kCodes[] = {
      {Code::kUnauthenticated, "invalid_api_key"},
      {Code::kNotFound, "model_not_found"},
      {Code::kResourceExhausted, "rate_limit_exceeded"},
      {Code::kDeadlineExceeded, "timeout"}};
  return ValueOf(kCodes, code, std::string_view());
}

std::string_view TypeOf(int http_status) {
  if (http_status == 401) return "authentication_error";
  if (http_status == 403) return "permission_error";
  if (http_status == 429) return "rate_limit_error";
  return http_status < 500 ? "invalid_request_error" : "server_error";
}

}  // namespace

std::string OpenAiErrorBody(int http_status, std::string_view message, std::string_view param,
                            std::string_view code) {
  const auto or_null = [](std::string_view text) {
    return text.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(text);
  };
  const nlohmann::ordered_json error = {{"message", message},
                                        {"type", TypeOf(http_status)},
                                        {"param", or_null(param)},
                                        {"code", or_null(code)}};
  // A message may repeat the client's bytes, which need not be UTF-8.
  return server::JsonText(nlohmann::ordered_json{{"error", error}});
}

std::string OpenAiErrorBody(const absl::Status& status) {
  const int http_status = HttpStatusOf(status);
  const std::string_view message = Message(status);
  const bool about_request = http_status == 400 || http_status == 404 || http_status == 413;
  return OpenAiErrorBody(http_status, message,
                         about_request ? FieldOf(message) : std::string_view(),
                         CodeOf(status.code()));
}

void SendOpenAiError(httplib::Response& response, const absl::Status& status) {
  server::SetErrorStatus(response, status);
  // OpenAI's clients prefer this to Retry-After.
  if (const auto hint = server::HttpRetryHint(status); hint.count() > 0)
    response.set_header("Retry-After-Ms", StrCat(hint.count()));
  response.set_content(OpenAiErrorBody(status), "application/json");
}

}  // namespace millrace
