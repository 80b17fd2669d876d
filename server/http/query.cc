#include "server/http/query.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "models/core/errors.h"
#include "models/core/shown.h"
#include "models/core/strings.h"
#include "models/text/unicode.h"

namespace millrace {
namespace {

absl::Status Wrong(std::string_view name, std::string_view value, std::string_view allowed) {
  return InvalidArgument(name, ": ", Shown(value), " is not allowed; it is ", allowed);
}

}  // namespace

Query::Query(std::string_view text) {
  for (auto& [name, value] : ParseForm(text))
    parameters_.push_back({.name = std::move(name), .value = std::move(value)});
}

absl::Status Query::TakeText(std::string_view name, std::string& out) {
  std::vector<std::string> values = TakeValues(name);
  if (values.size() > 1) return InvalidArgument(name, ": is given twice in the query");
  if (values.empty()) return absl::OkStatus();
  if (!models::IsValidUtf8(values[0])) return InvalidArgument(name, ": must be valid UTF-8");
  if (!values[0].empty()) out = std::move(values[0]);
  return absl::OkStatus();
}

absl::Status Query::TakeFlag(std::string_view name, bool& out) {
  std::string value;
  MILLRACE_RETURN_IF_ERROR(TakeText(name, value));
  if (value.empty()) return absl::OkStatus();
  out = absl::EqualsIgnoreCase(value, "true") || value == "1";
  if (out || absl::EqualsIgnoreCase(value, "false") || value == "0") return absl::OkStatus();
  return Wrong(name, value, "true or false");
}

absl::Status Query::TakeNumber(std::string_view name, uint64_t least, uint64_t most,
                               uint64_t& out) {
  std::string value;
  MILLRACE_RETURN_IF_ERROR(TakeText(name, value));
  if (value.empty()) return absl::OkStatus();
  uint64_t number = 0;
  if (!absl::SimpleAtoi(value, &number) || number < least || number > most)
    return Wrong(name, value, StrCat("a whole number of ", least, "..", most));
  out = number;
  return absl::OkStatus();
}

std::vector<std::string> Query::TakeValues(std::string_view name) {
  std::vector<std::string> values;
  for (Parameter& parameter : parameters_) {
    if (parameter.name != name) continue;
    parameter.read = true;
    values.push_back(parameter.value);
  }
  return values;
}

FormMembers Query::TakeAll() {
  FormMembers members;
  for (Parameter& parameter : parameters_) {
    parameter.read = true;
    members.emplace_back(parameter.name, parameter.value);
  }
  return members;
}

std::vector<std::string> Query::Unread() const {
  std::vector<std::string> names;
  for (const Parameter& parameter : parameters_) {
    if (!parameter.read && std::ranges::find(names, parameter.name) == names.end())
      names.push_back(parameter.name);
  }
  return names;
}

}  // namespace millrace
