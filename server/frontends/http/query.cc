#include "server/frontends/http/query.h"

#include <string_view>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "httplib.h"
#include "models/core/errors.h"
#include "models/core/shown.h"
#include "models/core/strings.h"
#include "models/text/unicode.h"

namespace millrace::server {
namespace {

absl::Status Wrong(std::string_view name, std::string_view value, std::string_view allowed) {
  return InvalidArgument(name, ": ", Shown(value), " is not allowed; it is ", allowed);
}

}  // namespace

absl::Status TakeQueryText(const httplib::Request& request, const char* name, std::string& out) {
  if (request.get_param_value_count(name) > 1)
    return InvalidArgument(std::string_view(name), ": is given twice in the query");
  const std::string value = request.get_param_value(name);
  if (!models::IsValidUtf8(value))
    return InvalidArgument(std::string_view(name), ": must be valid UTF-8");
  if (!value.empty()) out = value;
  return absl::OkStatus();
}

absl::Status TakeQueryFlag(const httplib::Request& request, const char* name, bool& out) {
  std::string value;
  MILLRACE_RETURN_IF_ERROR(TakeQueryText(request, name, value));
  if (value.empty()) return absl::OkStatus();
  out = absl::EqualsIgnoreCase(value, "true") || value == "1";
  if (out || absl::EqualsIgnoreCase(value, "false") || value == "0") return absl::OkStatus();
  return Wrong(name, value, "true or false");
}

absl::Status TakeQueryNumber(const httplib::Request& request, const char* name, uint64_t least,
                             uint64_t most, uint64_t& out) {
  std::string value;
  MILLRACE_RETURN_IF_ERROR(TakeQueryText(request, name, value));
  if (value.empty()) return absl::OkStatus();
  uint64_t number = 0;
  if (!absl::SimpleAtoi(value, &number) || number < least || number > most)
    return Wrong(name, value, StrCat("a whole number of ", least, "..", most));
  out = number;
  return absl::OkStatus();
}

}  // namespace millrace::server
