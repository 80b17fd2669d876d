#pragma once

#include <string_view>

namespace millrace::server {

// Marks a place of the front or of an executor at which a program of the tests fails on purpose: it
// may crash, hang or throw there, or send garbage over the socket (tests/fakes/failpoints). In the
// programs that are shipped it does nothing.
void Failpoint(std::string_view name, int socket = -1);

}  // namespace millrace::server
