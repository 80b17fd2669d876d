#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"

namespace millrace {

// Returns the object that a body of JSON holds. InvalidArgument says what it is else.
absl::StatusOr<nlohmann::json> ParseJsonObject(std::string_view body);

// Returns true for the type of JSON, and for a body that begins as an object or a list does, which
// no form may: many clients, such as curl, send JSON under the type of a form or under none.
bool IsJsonBody(std::string_view content_type, std::string_view body);

// Returns InvalidArgument for a body whose type and whose beginning say that it is no JSON, where
// nothing else is taken.
absl::Status CheckJsonType(std::string_view content_type, std::string_view body);

// Returns that error where forms are taken, too.
absl::Status NeitherJsonNorForm(std::string_view content_type);

}  // namespace millrace
