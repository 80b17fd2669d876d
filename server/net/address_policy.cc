#include "server/net/address_policy.h"

#include <arpa/inet.h>
#include <sys/un.h>

#include <algorithm>
#include <cctype>
#include <charconv>

#include "absl/strings/match.h"
#include "models/core/errors.h"
#include "models/core/strings.h"

namespace millrace {
namespace {

constexpr std::string_view kUnix = "unix:";

absl::Status Malformed(std::string_view address, std::string_view why) {
  return InvalidArgument("'", std::string(address), "': ", std::string(why),
                         ", allowed is host:port or [v6]:port with a port of 0..65535");
}

}  // namespace

absl::StatusOr<HostPort> ParseHostPort(std::string_view address) {
  HostPort result;
  std::string_view port;
  if (!address.empty() && address[0] == '[') {
    const size_t close = address.find(']');
    if (close == address.npos || close + 1 >= address.size() || address[close + 1] != ':') {
      return Malformed(address, "no port after the brackets");
    }
    result.host = address.substr(1, close - 1);
    port = address.substr(close + 2);
    in6_addr unused;
    if (inet_pton(AF_INET6, result.host.c_str(), &unused) != 1) {
      return Malformed(address, "no IPv6 address in the brackets");
    }
  } else {
    const size_t colon = address.rfind(':');
    if (colon == address.npos) return Malformed(address, "has no port");
    result.host = address.substr(0, colon);
    port = address.substr(colon + 1);
    if (result.host.find(':') != result.host.npos) {
      return Malformed(address, "an IPv6 address needs brackets");
    }
    // The host is passed on to gRPC and the resolver, which must not read any part of it as
    // something else, such as a scheme or a path.
    const bool sane = std::all_of(result.host.begin(), result.host.end(), [](unsigned char c) {
      return std::isalnum(c) || c == '.' || c == '-' || c == '_' || c == '*';
    });
    if (!sane) return Malformed(address, "the host is not a name or address");
  }
  if (result.host.empty() || result.host == "*") result.host = "0.0.0.0";
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), result.port);
  if (error != std::errc() || end != port.data() + port.size() || result.port < 0 ||
      result.port > 65535) {
    return Malformed(address, "the port is not a number in range");
  }
  return result;
}

size_t MaxSocketPath() { return sizeof(sockaddr_un::sun_path) - 1; }

std::string SocketAddressRule() {
  return StrCat("unix: with a path of 1..", MaxSocketPath(),
                " bytes that does not begin with @ (no abstract socket)");
}

absl::StatusOr<ListenAddress> ParseListenAddress(std::string_view address) {
  ListenAddress result;
  if (!address.starts_with(kUnix)) {
    MILLRACE_ASSIGN_OR_RETURN(result.tcp, ParseHostPort(address));
    return result;
  }
  std::string_view path = address.substr(kUnix.size());
  if (path.starts_with("///")) path.remove_prefix(2);
  // Others take a path that begins with @ for a name outside of the file system, which anybody on
  // the machine may connect to.
  if (path.empty() || path.starts_with("//") || path.starts_with('@') ||
      path.size() > MaxSocketPath() || path.find('\0') != path.npos) {
    return InvalidArgument("'", std::string(address), "': its path has ", path.size(),
                           " bytes, allowed is ", SocketAddressRule());
  }
  result.socket_file = path;
  return result;
}

std::string ToString(const HostPort& address) {
  if (address.host.starts_with(kUnix)) return address.host;
  const bool v6 = address.host.find(':') != std::string::npos;
  return v6 ? StrCat("[", address.host, "]:", address.port)
            : StrCat(address.host, ":", address.port);
}

bool IsLoopbackHost(std::string_view host) {
  const std::string text(host);
  in_addr v4;
  if (inet_pton(AF_INET, text.c_str(), &v4) == 1) return (ntohl(v4.s_addr) >> 24) == 127;
  in6_addr v6;
  if (inet_pton(AF_INET6, text.c_str(), &v6) == 1) {
    if (IN6_IS_ADDR_V4MAPPED(&v6)) return v6.s6_addr[12] == 127;
    return IN6_IS_ADDR_LOOPBACK(&v6);
  }
  return absl::EqualsIgnoreCase(text, "localhost");
}

bool IsLoopbackAddress(std::string_view address) {
  if (address.starts_with(kUnix)) return true;
  const absl::StatusOr<HostPort> parsed = ParseHostPort(address);
  return parsed.ok() && IsLoopbackHost(parsed->host);
}

}  // namespace millrace
