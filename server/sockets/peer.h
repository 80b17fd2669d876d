#pragma once

#include <sys/socket.h>

#include <array>
#include <compare>
#include <cstdint>
#include <string>

namespace millrace {

// The other end of a connection, without its port. An IPv6 client counts as its /64 network, within
// which it can take any address, and the client of a socket in the file system as the user that it
// runs as.
class Peer {
 public:
  // Nobody in particular: all clients whose address is not known count as one.
  Peer() = default;
  // The address is IPv4 or IPv6; all other families count as nobody.
  explicit Peer(const sockaddr_storage& address);
  // Returns a user of this machine.
  static Peer OfUser(uint32_t uid);
  // Returns the other end of a connected socket.
  static Peer OfSocket(int descriptor);

  // Returns the address, such as "192.0.2.1" or "2001:db8::/64", or a user, "unix:uid=1000";
  // "unknown" for nobody.
  std::string ToString() const;

  friend auto operator<=>(const Peer&, const Peer&) = default;  // NOLINT(modernize-use-nullptr)

 private:
  // IPv4 is a mapped IPv6 address, ::ffff:0:0/96. Nobody and users are in a network that no client
  // has.
  std::array<uint8_t, 16> bytes_ = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
};

}  // namespace millrace
