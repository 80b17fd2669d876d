#include "server/frontends/http/other_keys.h"

#include "absl/strings/match.h"
#include "absl/strings/strip.h"
#include "httplib.h"
#include "models/core/strings.h"

namespace millrace::server {

std::string KeyOfScheme(const httplib::Request& request, std::string_view scheme) {
  const std::string authorization = request.get_header_value("Authorization");
  if (!absl::StartsWithIgnoreCase(authorization, View(scheme))) return {};
  const std::string key = authorization.substr(scheme.size());
  if (!key.starts_with(' ')) return {};
  return std::string(absl::StripAsciiWhitespace(key));
}

}  // namespace millrace::server
