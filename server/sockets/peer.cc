#include "server/sockets/peer.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <optional>

namespace millrace {
namespace {

using Bytes = std::array<uint8_t, 16>;

constexpr std::array<uint8_t, 12> kMapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
constexpr size_t kNetwork = 8;
constexpr size_t kUid = 12;  // the place of a user's number

bool IsIpv4(const Bytes& address) {
  return std::equal(kMapped.begin(), kMapped.end(), address.begin());
}

bool IsUser(const Bytes& address) {
  return std::all_of(address.begin(), address.begin() + kUid,
                     [](uint8_t byte) { return byte == 0xff; });
}

// Writes IPv4 in its own form even where it came over an IPv6 socket.
std::string ToText(const Bytes& address) {
  char text[INET6_ADDRSTRLEN] = "";
  const bool mapped = IsIpv4(address);
  inet_ntop(mapped ? AF_INET : AF_INET6, address.data() + (mapped ? kMapped.size() : 0), text,
            sizeof(text));
  return text;
}

// Returns the user that connected a socket of the family AF_UNIX, as the kernel vouches for it.
std::optional<uint32_t> UserOf(int descriptor) {
#ifdef SO_PEERCRED
  ucred credentials = {};
  socklen_t size = sizeof(credentials);
  if (getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0)
    return std::nullopt;
  return credentials.uid;
#else
  uid_t uid = 0;
  gid_t gid = 0;
  if (getpeereid(descriptor, &uid, &gid) != 0) return std::nullopt;
  return uid;
#endif
}

}  // namespace

Peer::Peer(const sockaddr_storage& address) {
  if (address.ss_family == AF_INET) {
    std::ranges::copy(kMapped, bytes_.begin());
    std::memcpy(bytes_.data() + kMapped.size(),
                &reinterpret_cast<const sockaddr_in&>(address).sin_addr, sizeof(in_addr));
  } else if (address.ss_family == AF_INET6) {
    std::memcpy(bytes_.data(), &reinterpret_cast<const sockaddr_in6&>(address).sin6_addr,
                bytes_.size());
    if (!IsIpv4(bytes_)) std::fill(bytes_.begin() + kNetwork, bytes_.end(), 0);
  }
}

Peer Peer::OfUser(uint32_t uid) {
  Peer peer;
  std::fill_n(peer.bytes_.begin(), kUid, 0xff);
  std::memcpy(peer.bytes_.data() + kUid, &uid, sizeof(uid));
  return peer;
}

Peer Peer::OfSocket(int descriptor) {
  sockaddr_storage address = {};
  socklen_t size = sizeof(address);
  if (getpeername(descriptor, reinterpret_cast<sockaddr*>(&address), &size) != 0) return Peer();
  if (address.ss_family != AF_UNIX) return Peer(address);
  const std::optional<uint32_t> uid = UserOf(descriptor);
  return uid ? OfUser(*uid) : Peer();
}

std::string Peer::ToString() const {
  if (*this == Peer()) return "unknown";
  if (IsUser(bytes_)) {
    uint32_t uid = 0;
    std::memcpy(&uid, bytes_.data() + kUid, sizeof(uid));
    return "unix:uid=" + std::to_string(uid);
  }
  return ToText(bytes_) + (IsIpv4(bytes_) ? "" : "/64");
}

}  // namespace millrace
