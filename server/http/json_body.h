#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"

namespace millrace {

// The object that a body of JSON holds, which is valid UTF-8. InvalidArgument says what it is else.
absl::StatusOr<nlohmann::json> ParseJsonObject(std::string_view body);

}  // namespace millrace
