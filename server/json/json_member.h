#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "nlohmann/json_fwd.hpp"

namespace millrace::server {

// These functions read the value of a member. InvalidArgument names the member, its value and what
// is allowed.

// Returns the kind of a value and what is shown of it, as "number '7'".
std::string ShownKind(const nlohmann::json& value);
absl::Status WrongType(std::string_view name, std::string_view wanted, const nlohmann::json& value);
// supported: the texts that are, as "html and xml".
absl::Status NotSupported(std::string_view name, std::string_view value,
                          std::string_view supported);
absl::Status TakeString(const nlohmann::json& value, std::string_view name, std::string& out);
// Appends a list of strings, or one string, which a form has where the list has one.
absl::Status TakeStrings(const nlohmann::json& value, std::string_view name,
                         std::vector<std::string>& out);
absl::Status TakeBool(const nlohmann::json& value, std::string_view name, bool& out);
// Reads true or false, which a form has as text, and some clients have as 0 or 1.
absl::Status TakeFlag(const nlohmann::json& value, std::string_view name, bool& out);
// allowed: as an error shows it, where the range is checked further later; empty: 0..max.
absl::Status TakeInteger(const nlohmann::json& value, std::string_view name, uint64_t max,
                         uint64_t& out, std::string_view allowed = {});
// Reads a number whose range is checked later, if a float can hold it.
absl::Status TakeFloat(const nlohmann::json& value, std::string_view name, std::string_view allowed,
                       float& out);

}  // namespace millrace::server
