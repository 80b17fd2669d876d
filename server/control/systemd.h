#pragma once

#include <string_view>

namespace millrace::server {

// Sends systemd a state such as "READY=1" or "STOPPING=1" when NOTIFY_SOCKET asks for it; otherwise
// does nothing.
void NotifySystemd(std::string_view state);

// Tells systemd that the server works, if it wants to be told (WatchdogSec of the unit).
void PingSystemd();

}  // namespace millrace::server
