#pragma once

#include <optional>

#include "server/net/address_policy.h"

namespace millrace {

// Return the address of the other end of a socket, and of its own end; nothing for one that has
// none, such as one that is not connected.
std::optional<HostPort> PeerAddress(int descriptor);
std::optional<HostPort> LocalAddress(int descriptor);

}  // namespace millrace
