#include "server/http/admin_access.h"

#include <arpa/inet.h>

#include <string>

#include "absl/status/statusor.h"
#include "httplib.h"
#include "models/core/errors.h"
#include "models/core/strings.h"
#include "server/http/http_server.h"
#include "server/net/address_policy.h"
#include "server/security/api_key_store.h"

namespace millrace {
namespace {

// host: as in a Host header, with or without a port.
bool IsAddressOrLocal(const std::string& host) {
  if (host.empty() || host.front() == ':') return false;  // it would stand for all addresses
  absl::StatusOr<HostPort> parsed = ParseHostPort(host);
  if (!parsed.ok()) parsed = ParseHostPort(StrCat(host, ":80"));
  if (!parsed.ok()) return false;
  in6_addr address;
  return parsed->host == "localhost" || inet_pton(AF_INET, parsed->host.c_str(), &address) == 1 ||
         inet_pton(AF_INET6, parsed->host.c_str(), &address) == 1;
}

// Browsers send the origin of a page with each POST.
absl::Status CheckOrigin(const httplib::Request& request) {
  if (!request.has_header("Origin")) return absl::OkStatus();
  const std::string origin = request.get_header_value("Origin");
  const std::string host = request.get_header_value("Host");
  if (IsAddressOrLocal(host) && (origin == "http://" + host || origin == "https://" + host))
    return absl::OkStatus();
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
