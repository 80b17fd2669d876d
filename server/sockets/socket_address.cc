#include "server/sockets/socket_address.h"

#include <netdb.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <string>

namespace millrace {
namespace {

using NameOfSocket = int (*)(int, sockaddr*, socklen_t*);

// Clients have no path. A name that is no file begins with a zero, for which an @ is written.
HostPort NameOf(const sockaddr_un& address, socklen_t size) {
  constexpr size_t kPath = offsetof(sockaddr_un, sun_path);
  std::string path(address.sun_path, size > kPath ? size - kPath : 0);
  if (path.starts_with('\0') && path.size() > 1) path[0] = '@';
  path.resize(std::min(path.find('\0'), path.size()));
  return {"unix:" + path, 0};
}

std::optional<HostPort> AddressOf(int descriptor, NameOfSocket name_of) {
  sockaddr_storage address = {};
  socklen_t size = sizeof(address);
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  char host[NI_MAXHOST];
  char service[NI_MAXSERV];
  if (name_of(descriptor, generic, &size) != 0) return std::nullopt;
  if (address.ss_family == AF_UNIX) return NameOf(reinterpret_cast<sockaddr_un&>(address), size);
  if (getnameinfo(generic, size, host, sizeof(host), service, sizeof(service),
                  NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
    return std::nullopt;
  }
  return HostPort{host, std::atoi(service)};
}

}  // namespace

std::optional<HostPort> PeerAddress(int descriptor) {
  return AddressOf(descriptor, [](int socket, sockaddr* address, socklen_t* size) {
    return getpeername(socket, address, size);
  });
}

std::optional<HostPort> LocalAddress(int descriptor) {
  return AddressOf(descriptor, [](int socket, sockaddr* address, socklen_t* size) {
    return getsockname(socket, address, size);
  });
}

}  // namespace millrace
