#pragma once

#include <sys/socket.h>

#include <array>
#include <compare>
#include <cstdint>
#include <string>

namespace millrace::server {

// The other end of a connection, without its port. An IPv6 client counts as its /64 network, within
// which it can take any address.
class Peer {
 public:
  Peer() = default;
  // The address is IPv4 or IPv6; all other families count as one peer.
  explicit Peer(const sockaddr_storage& address);
  // Takes an address as text, without a port.
  explicit Peer(const std::string& address);

  // Returns the other end of a connected socket.
  static Peer OfSocket(int descriptor);

  // Returns the address, such as "192.0.2.1" or "2001:db8::/64"; "unix:" for the other families.
  std::string ToString() const;

  friend auto operator<=>(const Peer&, const Peer&) = default;

 private:
  std::array<uint8_t, 16> bytes_ = {};  // IPv4 as a mapped IPv6 address, ::ffff:0:0/96
};

}  // namespace millrace::server
