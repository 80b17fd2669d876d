#include "server/http/allowed_hosts.h"

#include <arpa/inet.h>

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "models/core/shown.h"
#include "models/core/strings.h"

namespace millrace {

AllowedHosts::AllowedHosts(std::vector<std::string> names) : names_(std::move(names)) {
  for (std::string& name : names_) {
    absl::AsciiStrToLower(&name);
    all_ |= name == "*";
  }
}

bool AllowedHosts::Allows(std::string_view host) const {
  if (all_) return true;
  const bool in_brackets = host.starts_with('[');
  const size_t end = host.find_first_of(in_brackets ? "]%" : ":");
  std::string name = absl::AsciiStrToLower(View(host.substr(in_brackets, end - in_brackets)));
  if (name.ends_with('.')) name.pop_back();  // the root's dot
  in6_addr unused;
  if (inet_pton(in_brackets ? AF_INET6 : AF_INET, name.c_str(), &unused) == 1) return true;
  if (in_brackets) return false;
  // Browsers resolve these themselves (RFC 6761, 6.3).
  if (name == "localhost" || name.ends_with(".localhost")) return true;
  return std::ranges::any_of(names_, [&name](const std::string& allowed) {
    return allowed.starts_with('.') ? name.ends_with(allowed) : name == allowed;
  });
}

std::string AllowedHosts::Refusal(std::string_view host) {
  return StrCat(
      "Host: without --api-keys this server answers on this machine to an IP address or "
      "localhost alone, not to ",
      Shown(host), "; --allowed-host allows the name of a proxy");
}

}  // namespace millrace
