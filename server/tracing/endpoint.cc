#include "server/tracing/endpoint.h"

#include <algorithm>

#include "models/core/errors.h"
#include "models/core/strings.h"
#include "server/net/address_policy.h"

namespace millrace::tracing {

absl::StatusOr<Endpoint> ParseEndpoint(std::string_view url) {
  const auto wrong = [url](std::string_view why) {
    return InvalidArgument("'", url, "' is not allowed: ", why,
                           "; allowed are URLs such as http://localhost:4317");
  };
  Endpoint endpoint;
  std::string_view rest = url;
  if (rest.starts_with("http://")) {
    rest.remove_prefix(7);
  } else if (rest.starts_with("https://")) {
    rest.remove_prefix(8);
    endpoint.tls = true;
  } else {
    return wrong("it does not begin with http:// or https://");
  }
  for (const char c : rest) {
    if (c <= ' ' || c >= 0x7f) return wrong("it has characters that a URL has not");
  }
  if (rest.find_first_of("?#@") != rest.npos) return wrong("it has a query, a fragment or a user");
  const size_t slash = std::min(rest.find('/'), rest.size());
  endpoint.path = rest.substr(slash);
  std::string authority(rest.substr(0, slash));
  if (authority.empty() || authority.front() == ':') return wrong("it names no host");
  const size_t after_host = authority.starts_with('[') ? authority.find(']') : 0;
  if (after_host == authority.npos) return wrong("its address has no ]");
  if (authority.find(':', after_host) == authority.npos) authority += endpoint.tls ? ":443" : ":80";
  const absl::StatusOr<HostPort> address = ParseHostPort(authority);
  if (!address.ok()) return wrong(Message(address.status()));
  if (address->host.empty() || address->port == 0) return wrong("it needs a host and a port");
  endpoint.host = address->host;
  endpoint.port = address->port;
  return endpoint;
}

}  // namespace millrace::tracing
