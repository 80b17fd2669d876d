#include "server/http/json_body.h"

#include <string_view>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "models/core/errors.h"
#include "models/core/shown.h"
#include "models/core/strings.h"
#include "server/json/json_parse.h"

namespace millrace {
namespace {

// Returns the type without its parameters.
std::string_view TypeOf(std::string_view content_type) {
  return content_type.substr(0, content_type.find_first_of("; "));
}

absl::Status Unsupported(std::string_view content_type, std::string_view supported) {
  return InvalidArgument("Content-Type: ", Shown(absl::AsciiStrToLower(View(TypeOf(content_type)))),
                         " is not supported; ", supported);
}

}  // namespace

absl::StatusOr<nlohmann::json> ParseJsonObject(std::string_view body) {
  if (body.empty()) return InvalidArgument("the body is empty; it must be a JSON object");
  return server::ParseObject("the body", body);
}

bool IsJsonBody(std::string_view content_type, std::string_view body) {
  if (absl::EndsWithIgnoreCase(View(TypeOf(content_type)), "json")) return true;
  if (body.starts_with("\xEF\xBB\xBF")) body.remove_prefix(3);  // a byte order mark
  const size_t begin = body.find_first_not_of(" \t\r\n");
  return begin != body.npos && (body[begin] == '{' || body[begin] == '[');
}

absl::Status CheckJsonType(std::string_view content_type, std::string_view body) {
  if (body.empty() || content_type.empty() || IsJsonBody(content_type, body))
    return absl::OkStatus();
  return Unsupported(content_type, "application/json is");
}

absl::Status NeitherJsonNorForm(std::string_view content_type) {
  constexpr std::string_view kTypes =
      "application/json, application/x-www-form-urlencoded and multipart/form-data are";
  if (content_type.empty())
    return InvalidArgument("Content-Type: is missing; ", kTypes, " supported");
  return Unsupported(content_type, kTypes);
}

}  // namespace millrace
