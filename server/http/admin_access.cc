#include "server/http/admin_access.h"

#include <string>

#include "httplib.h"
#include "models/core/errors.h"
#include "server/http/allowed_hosts.h"
#include "server/http/cors.h"
#include "server/http/http_server.h"
#include "server/security/api_key_store.h"

namespace millrace {
namespace {

// Browsers send the origin of a page with each POST.
absl::Status CheckOrigin(const httplib::Request& request) {
  if (!request.has_header("Origin")) return absl::OkStatus();
  const bool is_local = AllowedHosts({}).Allows(request.get_header_value("Host"));
  if (is_local && Cors({}).MayConnect(request)) return absl::OkStatus();
  return absl::PermissionDeniedError(
      "without --api-keys, only pages that this server itself serves, at an IP address or "
      "localhost, may do this");
}

}  // namespace

absl::Status AuthorizeHttpAdmin(const httplib::Request& request, const ApiKeyStore* keys) {
  if (keys == nullptr) return CheckOrigin(request);
  MILLRACE_RETURN_IF_ERROR(AuthenticateHttp(request, keys));
  const std::string authorization = request.get_header_value("Authorization");
  const std::string plain = request.get_header_value("X-Api-Key");
  const std::string_view bearer = BearerToken(authorization);
  const auto principal = keys->Authenticate(bearer.empty() ? plain : bearer);
  if (principal && principal->role == Role::kAdmin) return absl::OkStatus();
  return absl::PermissionDeniedError("this needs an API key with the role 'admin'");
}

}  // namespace millrace
