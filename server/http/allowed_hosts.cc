#include "server/http/allowed_hosts.h"

#include <arpa/inet.h>

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "models/core/shown.h"
#include "models/core/strings.h"

namespace millrace {
namespace {

bool IsPort(std::string_view text) {
  return text.size() <= 5 &&
         std::ranges::all_of(text, [](unsigned char c) { return absl::ascii_isdigit(c); });
}

// Returns true for an address in brackets, perhaps with a zone and a port behind it.
bool IsBracketedAddress(std::string_view host) {
  const size_t end = host.find(']');
  if (!host.starts_with('[') || end == host.npos) return false;
  const std::string_view rest = host.substr(end + 1);
  if (!rest.empty() && (rest[0] != ':' || !IsPort(rest.substr(1)))) return false;
  std::string_view address = host.substr(1, end - 1);
  address = address.substr(0, address.find('%'));
  in6_addr unused;
  return inet_pton(AF_INET6, std::string(address).c_str(), &unused) == 1;
}

}  // namespace

AllowedHosts::AllowedHosts(std::vector<std::string> names) : names_(std::move(names)) {
  for (std::string& name : names_) {
    absl::AsciiStrToLower(&name);
    all_ |= name == "*";
  }
}

bool AllowedHosts::Allows(std::string_view host) const {
  if (all_ || IsBracketedAddress(host)) return true;
  const size_t colon = host.find(':');
  if (colon != host.npos && !IsPort(host.substr(colon + 1))) return false;
  std::string name = absl::AsciiStrToLower(View(host.substr(0, colon)));
  if (name.ends_with('.')) name.pop_back();  // the root's dot
  in_addr unused;
  if (inet_pton(AF_INET, name.c_str(), &unused) == 1) return true;
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
