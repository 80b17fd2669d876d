#include "server/http/json_body.h"

#include <string_view>

#include "absl/strings/match.h"
#include "models/core/errors.h"
#include "models/core/strings.h"
#include "server/json/json_member.h"
#include "server/json/json_size.h"

namespace millrace {

absl::StatusOr<nlohmann::json> ParseJsonObject(std::string_view body) {
  if (body.empty()) return InvalidArgument("the body is empty; it must be a JSON object");
  MILLRACE_RETURN_IF_ERROR(server::CheckJsonSize("the body", body));
  nlohmann::json members;
  try {
    members = nlohmann::json::parse(body);
  } catch (const nlohmann::json::parse_error& error) {
    return InvalidArgument("the body is not valid JSON at byte ", error.byte);
  } catch (const nlohmann::json::exception&) {
    return InvalidArgument("the body is not valid JSON: a number is out of range");
  }
  if (!members.is_object()) {
    return InvalidArgument("the body must be a JSON object, not ", server::ShownKind(members));
  }
  return members;
}

bool IsJsonBody(std::string_view content_type, std::string_view body) {
  const std::string_view type = content_type.substr(0, content_type.find(';'));
  if (absl::EndsWithIgnoreCase(View(type), "json")) return true;
  const size_t begin = body.find_first_not_of(" \t\r\n");
  return begin != body.npos && body[begin] == '{';
}

}  // namespace millrace
