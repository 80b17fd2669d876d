#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace millrace {

struct HostPort {
  std::string host;  // without brackets; "unix:" with a path for a socket in the file system
  int port = 0;      // 0..65535
};

// An address to listen on: a port of a host, or a socket in the file system.
struct ListenAddress {
  HostPort tcp;
  std::string socket_file;  // empty: it is TCP
};

// Splits "host:port", "[v6]:port" or ":port" (all interfaces). InvalidArgument says what is wrong.
absl::StatusOr<HostPort> ParseHostPort(std::string_view address);

// Splits what ParseHostPort splits, and takes unix:path and unix:///path, as gRPC's clients do. The
// system bounds the length of the path.
absl::StatusOr<ListenAddress> ParseListenAddress(std::string_view address);
// The longest path of a socket, in bytes.
size_t MaxSocketPath();
// Says what an address of a socket in the file system is, for messages.
std::string SocketAddressRule();

// Returns "host:port", with brackets around an IPv6 host; the host alone for a socket in the file
// system.
std::string ToString(const HostPort& address);

// Returns true if only this machine can reach the host: 127/8, ::1 or localhost. Names are not
// resolved.
bool IsLoopbackHost(std::string_view host);

// Returns the same for an address with a port, or for unix:path, which gRPC clients understand.
bool IsLoopbackAddress(std::string_view address);

}  // namespace millrace
