#include "server/json/json_member.h"

#include <cmath>
#include <limits>

#include "models/core/errors.h"
#include "models/core/shown.h"
#include "models/core/strings.h"
#include "nlohmann/json.hpp"
#include "server/json/json_text.h"

namespace millrace::server {

using nlohmann::json;

std::string ShownKind(const json& value) {
  std::string kind = value.type_name();
  if (value.is_null()) return kind;
  return StrCat(kind, " ", Shown(value.is_string() ? value.get<std::string>() : JsonText(value)));
}

absl::Status WrongType(std::string_view name, std::string_view wanted, const json& value) {
  return InvalidArgument(name, ": must be ", wanted, ", not ", ShownKind(value));
}

absl::Status NotSupported(std::string_view name, std::string_view value,
                          std::string_view supported) {
  return InvalidArgument(name, ": '", value.substr(0, 64), "' is not supported; ", supported,
                         " are");
}

absl::Status TakeString(const json& value, std::string_view name, std::string& out) {
  if (!value.is_string()) return WrongType(name, "a string", value);
  out = value.get<std::string>();
  return absl::OkStatus();
}

absl::Status TakeStrings(const json& value, std::string_view name, std::vector<std::string>& out) {
  if (value.is_string()) {
    out.push_back(value.get<std::string>());
    return absl::OkStatus();
  }
  if (!value.is_array()) return WrongType(name, "a string or a list of strings", value);
  for (const json& text : value) {
    if (!text.is_string()) return WrongType(StrCat(name, "[", out.size(), "]"), "a string", text);
    out.push_back(text.get<std::string>());
  }
  return absl::OkStatus();
}

absl::Status TakeBool(const json& value, std::string_view name, bool& out) {
  if (!value.is_boolean()) return WrongType(name, "true or false", value);
  out = value.get<bool>();
  return absl::OkStatus();
}

absl::Status TakeFlag(const json& value, std::string_view name, bool& out) {
  const std::string text = value.is_string() ? value.get<std::string>() : JsonText(value);
  const bool yes = text == "true" || text == "1";
  if (!yes && text != "false" && text != "0") return WrongType(name, "true or false", value);
  out = yes;
  return absl::OkStatus();
}

absl::Status TakeInteger(const json& value, std::string_view name, uint64_t max, uint64_t& out,
                         std::string_view allowed) {
  const std::string wanted =
      StrCat("a whole number of ", allowed.empty() ? StrCat("0..", max) : std::string(allowed));
  if (!value.is_number()) return WrongType(name, wanted, value);
  if (!value.is_number_unsigned() || value.get<uint64_t>() > max) {
    return InvalidArgument(name, ": ", value.dump(), " is not allowed; it is ", wanted);
  }
  out = value.get<uint64_t>();
  return absl::OkStatus();
}

absl::Status TakeFloat(const json& value, std::string_view name, std::string_view allowed,
                       float& out) {
  const std::string wanted = StrCat("a number of ", allowed);
  if (!value.is_number()) return WrongType(name, wanted, value);
  const auto number = value.get<double>();
  if (std::abs(number) > std::numeric_limits<float>::max())
    return InvalidArgument(name, ": ", value.dump(), " is not allowed; it is ", wanted);
  out = static_cast<float>(number);
  return absl::OkStatus();
}

}  // namespace millrace::server
