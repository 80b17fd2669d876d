#include "server/http2/peer.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstring>

namespace millrace::server {
namespace {

constexpr std::array<uint8_t, 12> kMapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
constexpr size_t kNetwork = 8;

bool IsIpv4(const std::array<uint8_t, 16>& address) {
  return std::equal(kMapped.begin(), kMapped.end(), address.begin());
}

// Writes IPv4 in its own form even where it came over an IPv6 socket.
std::string ToText(const std::array<uint8_t, 16>& address) {
  char text[INET6_ADDRSTRLEN] = "";
  const bool mapped = IsIpv4(address);
  inet_ntop(mapped ? AF_INET : AF_INET6, address.data() + (mapped ? kMapped.size() : 0), text,
            sizeof(text));
  return text;
}

std::array<uint8_t, 16> ToBytes(const sockaddr_storage& address) {
  std::array<uint8_t, 16> bytes = {};
  if (address.ss_family == AF_INET) {
    std::ranges::copy(kMapped, bytes.begin());
    std::memcpy(bytes.data() + kMapped.size(),
                &reinterpret_cast<const sockaddr_in&>(address).sin_addr, sizeof(in_addr));
  } else if (address.ss_family == AF_INET6) {
    std::memcpy(bytes.data(), &reinterpret_cast<const sockaddr_in6&>(address).sin6_addr,
                bytes.size());
  } else {
    bytes.fill(0xff);  // which no client has
  }
  return bytes;
}

// Returns an address of no family for what is none.
sockaddr_storage Parsed(const std::string& text) {
  sockaddr_storage storage = {};
  auto& v4 = reinterpret_cast<sockaddr_in&>(storage);
  auto& v6 = reinterpret_cast<sockaddr_in6&>(storage);
  // An address of one link may have the name of that behind it.
  const std::string address = text.substr(0, text.find('%'));
  if (inet_pton(AF_INET, address.c_str(), &v4.sin_addr) == 1) {
    v4.sin_family = AF_INET;
  } else if (inet_pton(AF_INET6, address.c_str(), &v6.sin6_addr) == 1) {
    v6.sin6_family = AF_INET6;
  }
  return storage;
}

}  // namespace

Peer::Peer(const std::string& address) : Peer(Parsed(address)) {}

Peer::Peer(const sockaddr_storage& address) : bytes_(ToBytes(address)) {
  if (!IsIpv4(bytes_)) std::fill(bytes_.begin() + kNetwork, bytes_.end(), 0);
}

Peer Peer::OfSocket(int descriptor) {
  sockaddr_storage address = {};
  socklen_t size = sizeof(address);
  if (getpeername(descriptor, reinterpret_cast<sockaddr*>(&address), &size) != 0) address = {};
  return Peer(address);
}

std::string Peer::ToString() const {
  if (*this == Peer(sockaddr_storage{})) return "unix:";
  return ToText(bytes_) + (IsIpv4(bytes_) ? "" : "/64");
}

}  // namespace millrace::server
