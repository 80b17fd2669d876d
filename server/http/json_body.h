#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"

namespace millrace {

// The object that a body of JSON holds, which is valid UTF-8. InvalidArgument says what it is else.
absl::StatusOr<nlohmann::json> ParseJsonObject(std::string_view body);

// Returns true for the type of JSON, and for a body that begins as an object does, which no form
// may: many clients, such as curl, send JSON under the type of a form or under none.
bool IsJsonBody(std::string_view content_type, std::string_view body);

}  // namespace millrace
