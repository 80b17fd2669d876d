#include "server/sockets/listening_socket.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "models/core/strings.h"

namespace millrace {
namespace {

// A descriptor that listens on the address, or -1 with errno.
int ListenOn(const addrinfo& address) {
  const int descriptor = socket(address.ai_family, address.ai_socktype, address.ai_protocol);
  if (descriptor < 0) return -1;
  // A restart need not wait for old connections to time out; two servers cannot share a port.
  const int yes = 1;
  setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK);
  if (bind(descriptor, address.ai_addr, address.ai_addrlen) == 0 &&
      listen(descriptor, SOMAXCONN) == 0) {
    return descriptor;
  }
  const int error = errno;
  close(descriptor);
  errno = error;
  return -1;
}

int PortOf(int descriptor) {
  sockaddr_storage address = {};
  socklen_t size = sizeof(address);
  if (getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size) != 0) return 0;
  return ntohs(address.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(address).sin6_port
                                             : reinterpret_cast<sockaddr_in&>(address).sin_port);
}

}  // namespace

absl::StatusOr<ListeningSocket> ListeningSocket::Listen(const std::string& host, int port) {
  addrinfo hints = {};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const std::string service = StrCat(port);
  const char* const name = host.empty() ? nullptr : host.c_str();
  if (const int error = getaddrinfo(name, service.c_str(), &hints, &found); error != 0)
    return absl::UnavailableError(StrCat("cannot listen: ", std::string_view(gai_strerror(error))));
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> addresses(found, freeaddrinfo);
  int error = 0;
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
    const int descriptor = ListenOn(*one);
    if (descriptor >= 0) return ListeningSocket(descriptor, PortOf(descriptor));
    error = errno;
  }
  return absl::UnavailableError(StrCat("cannot listen: ", std::string_view(std::strerror(error))));
}

absl::StatusOr<ListeningSocket> ListeningSocket::Share(int descriptor) {
  const int duplicate = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  if (duplicate < 0) {
    return absl::UnavailableError(
        StrCat("cannot listen: ", std::string_view(std::strerror(errno))));
  }
  return ListeningSocket(duplicate, PortOf(duplicate));
}

ListeningSocket::ListeningSocket(ListeningSocket&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), port_(other.port_) {}

ListeningSocket& ListeningSocket::operator=(ListeningSocket&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(port_, other.port_);
  return *this;
}

ListeningSocket::~ListeningSocket() { Close(); }

int ListeningSocket::Accept() const {
  const int connection = accept(descriptor_, nullptr, nullptr);
  if (connection < 0) return -1;
  fcntl(connection, F_SETFD, FD_CLOEXEC);
  const int yes = 1;
  setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
  return connection;
}

void ListeningSocket::Close() {
  if (descriptor_ >= 0) close(std::exchange(descriptor_, -1));
}

}  // namespace millrace
