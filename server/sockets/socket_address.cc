#include "server/sockets/socket_address.h"

#include <netdb.h>
#include <sys/socket.h>

#include <cstdlib>

namespace millrace {
namespace {

using NameOfSocket = int (*)(int, sockaddr*, socklen_t*);

std::optional<HostPort> AddressOf(int descriptor, NameOfSocket name_of) {
  sockaddr_storage address = {};
  socklen_t size = sizeof(address);
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  char host[NI_MAXHOST];
  char service[NI_MAXSERV];
  if (name_of(descriptor, generic, &size) != 0 ||
      getnameinfo(generic, size, host, sizeof(host), service, sizeof(service),
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
