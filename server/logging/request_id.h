#pragma once

#include <string>
#include <string_view>

namespace millrace::logging {

// Returns 16 random hexadecimal digits. Takes no lock, and no system call after a thread's first.
std::string NewRequestId();

// Returns the client's id when it is valid, 1..128 visible ASCII characters, otherwise a new one.
std::string RequestIdFrom(std::string_view client_id);

}  // namespace millrace::logging
