#include "server/sockets/listening_socket.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

#include "absl/strings/match.h"
#include "models/core/errors.h"

namespace millrace {
namespace {

// How often a port that is free at one address may be taken at another one.
constexpr int kPortTries = 8;

// An address of a host, whose port is set later.
struct Address {
  sockaddr_storage storage = {};
  socklen_t size = 0;

  friend bool operator==(const Address& one, const Address& other) {
    return one.size == other.size && std::memcmp(&one.storage, &other.storage, one.size) == 0;
  }
};

absl::Status CannotListenAt(std::string_view where, std::string_view why) {
  return Unavailable("cannot listen", where.empty() ? "" : " on ", where, ": ", why);
}

// Returns each address once: a resolver may say one twice.
absl::StatusOr<std::vector<Address>> Resolve(const std::string& host) {
  addrinfo hints = {};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  std::vector<Address> addresses;
  // A file of hosts may have only one address of localhost, or a wrong one, and clients do not look
  // there (RFC 6761, 6.3).
  const bool local = absl::EqualsIgnoreCase(host, "localhost");
  for (const std::string& name :
       local ? std::vector<std::string>{"127.0.0.1", "::1"} : std::vector<std::string>{host}) {
    addrinfo* found = nullptr;
    if (const int error = getaddrinfo(name.c_str(), "0", &hints, &found); error != 0)
      return CannotListenAt("", gai_strerror(error));
    const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found, freeaddrinfo);
    for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
      Address address;
      address.size = one->ai_addrlen;
      std::memcpy(&address.storage, one->ai_addr, one->ai_addrlen);
      if (std::ranges::find(addresses, address) == addresses.end()) addresses.push_back(address);
    }
  }
  return addresses;
}

// Returns the place of the port within an address.
in_port_t& PortIn(sockaddr_storage& address) {
  return address.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(address).sin6_port
                                       : reinterpret_cast<sockaddr_in&>(address).sin_port;
}

std::string TextOf(const Address& address) {
  char host[NI_MAXHOST] = "";
  getnameinfo(reinterpret_cast<const sockaddr*>(&address.storage), address.size, host, sizeof(host),
              nullptr, 0, NI_NUMERICHOST);
  sockaddr_storage storage = address.storage;
  return ToString(HostPort{host, ntohs(PortIn(storage))});
}

// Returns a socket that children do not inherit and that does not block, or -1 with errno.
int MakeSocket(int family) {
#ifdef __linux__
  // In one step: another thread may start a child at any time.
  return socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
#else
  const int descriptor = socket(family, SOCK_STREAM, 0);
  if (descriptor < 0) return -1;
  fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK);
  return descriptor;
#endif
}

// Returns a descriptor that is bound to the address, or -1 with errno.
int BindTo(const Address& address, bool alone) {
  const int descriptor = MakeSocket(address.storage.ss_family);
  if (descriptor < 0) return -1;
  // A restart need not wait for old connections to time out; two servers cannot share a port.
  const int yes = 1;
  setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  // Beside other addresses, "::" must leave those of IPv4 to them.
  if (!alone && address.storage.ss_family == AF_INET6)
    setsockopt(descriptor, IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof(yes));
  if (bind(descriptor, reinterpret_cast<const sockaddr*>(&address.storage), address.size) == 0)
    return descriptor;
  const int error = errno;
  close(descriptor);
  errno = error;
  return -1;
}

int PortOf(int descriptor) {
  sockaddr_storage address = {};
  socklen_t size = sizeof(address);
  if (getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size) != 0 ||
      address.ss_family == AF_UNIX) {
    return 0;
  }
  return ntohs(PortIn(address));
}

// Returns true if the machine has no such address, perhaps for want of IPv6.
bool IsAbsent(int error) { return error == EADDRNOTAVAIL || error == EAFNOSUPPORT; }

}  // namespace

absl::StatusOr<std::vector<ListeningSocket>> ListeningSocket::BindAll(
    const ListenAddress& address) {
  std::vector<ListeningSocket> sockets;
  if (!address.socket_file.empty()) {
    MILLRACE_ASSIGN_OR_RETURN(ListeningSocket socket, BindFile(address.socket_file));
    sockets.push_back(std::move(socket));
    return sockets;
  }
  MILLRACE_ASSIGN_OR_RETURN(std::vector<Address> addresses, Resolve(address.tcp.host));
  const bool alone = addresses.size() == 1;
  absl::Status failure = CannotListenAt("", "the host has no address");
  for (int i = 0; i < kPortTries; ++i) {
    sockets.clear();
    int port = address.tcp.port;
    bool taken = false;
    for (Address& one : addresses) {
      PortIn(one.storage) = htons(static_cast<uint16_t>(port));
      const int descriptor = BindTo(one, alone);
      if (descriptor >= 0) {
        if (port == 0) port = PortOf(descriptor);
        sockets.push_back(ListeningSocket(descriptor, port));
        continue;
      }
      const int error = errno;
      failure = CannotListenAt(alone ? "" : TextOf(one), std::strerror(error));
      taken = !IsAbsent(error);
      if (taken) break;
    }
    if (!taken && !sockets.empty()) return sockets;
    // Another free port may be free at all addresses.
    if (address.tcp.port != 0 || sockets.empty()) break;
  }
  return failure;
}

absl::StatusOr<ListeningSocket> ListeningSocket::BindFile(const std::string& path) {
  ListeningSocket result(MakeSocket(AF_UNIX), 0);
  if (result.descriptor_ < 0) return CannotListenAt("", std::strerror(errno));
  MILLRACE_ASSIGN_OR_RETURN(result.file_, ListenOnFile(result.descriptor_, path));
  return result;
}

absl::StatusOr<ListeningSocket> ListeningSocket::Share(int descriptor) {
  const int duplicate = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  if (duplicate < 0) return CannotListenAt("", std::strerror(errno));
  return ListeningSocket(duplicate, PortOf(duplicate));
}

ListeningSocket::ListeningSocket(ListeningSocket&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      port_(other.port_),
      file_(std::exchange(other.file_, std::nullopt)) {}

ListeningSocket& ListeningSocket::operator=(ListeningSocket&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(port_, other.port_);
  std::swap(file_, other.file_);
  return *this;
}

ListeningSocket::~ListeningSocket() { Close(); }

absl::Status ListeningSocket::Listen() const {
  if (listen(descriptor_, SOMAXCONN) == 0) return absl::OkStatus();
  return CannotListenAt("", std::strerror(errno));
}

int ListeningSocket::Accept() const {
#ifdef __linux__
  const int connection = accept4(descriptor_, nullptr, nullptr, SOCK_CLOEXEC);
  if (connection < 0) return -1;
#else
  const int connection = accept(descriptor_, nullptr, nullptr);
  if (connection < 0) return -1;
  fcntl(connection, F_SETFD, FD_CLOEXEC);
#endif
  const int yes = 1;
  setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
  return connection;
}

void ListeningSocket::Close() {
  // The file goes first: a process that found it without a listener would take it for stale.
  if (file_) RemoveSocketFile(*std::exchange(file_, std::nullopt));
  if (descriptor_ >= 0) close(std::exchange(descriptor_, -1));
}

}  // namespace millrace
