#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace millrace {

struct HostPort {
  std::string host;  // without brackets
  int port = 0;      // 0..65535
};

// Splits "host:port", "[v6]:port" or ":port" (all interfaces). InvalidArgument says what is wrong.
absl::StatusOr<HostPort> ParseHostPort(std::string_view address);

// Returns "host:port", with brackets around an IPv6 host.
std::string ToString(const HostPort& address);

// Returns true if only this machine can reach the host: 127/8, ::1 or localhost. Names are not
// resolved.
bool IsLoopbackHost(std::string_view host);

// Returns the same for an address with a port, or for unix:path, which gRPC clients understand.
bool IsLoopbackAddress(std::string_view address);

}  // namespace millrace
