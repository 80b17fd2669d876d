#pragma once

#include <string>

#include "nlohmann/json_fwd.hpp"

namespace millrace::server {

// Returns the value on one line. Bytes in it that are not UTF-8 become U+FFFD.
std::string JsonText(const nlohmann::json& value);
std::string JsonText(const nlohmann::ordered_json& value);

}  // namespace millrace::server
