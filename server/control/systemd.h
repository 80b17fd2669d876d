#pragma once

#include <string_view>

namespace millrace::server {

// Tells systemd a state such as "READY=1" or "STOPPING=1", when it asked for it by NOTIFY_SOCKET;
// otherwise does nothing.
void NotifySystemd(std::string_view state);

}  // namespace millrace::server
