#pragma once

#include <string>
#include <string_view>

namespace millrace::logging {

// 16 random hexadecimal digits. No lock and no system call after a thread's first.
std::string NewRequestId();

// The client's id when it is sane, 1..128 visible ASCII characters, otherwise a new one.
std::string RequestIdFrom(std::string_view client_id);

}  // namespace millrace::logging
