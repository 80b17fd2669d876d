#include "server/http/json_body.h"

#include <string_view>
#include <utility>

#include "models/core/strings.h"

namespace millrace {

absl::StatusOr<nlohmann::json> ParseJsonObject(std::string_view body) {
  nlohmann::json members;
  try {
    members = nlohmann::json::parse(body);
  } catch (const nlohmann::json::parse_error& error) {
    return absl::InvalidArgumentError(StrCat("the body is not valid JSON at byte ", error.byte));
  } catch (const nlohmann::json::exception&) {
    return absl::InvalidArgumentError("the body is not valid JSON: a number is out of range");
  }
  if (!members.is_object()) {
    return absl::InvalidArgumentError(
        StrCat("the body must be a JSON object, not ", std::string_view(members.type_name())));
  }
  return members;
}

}  // namespace millrace
