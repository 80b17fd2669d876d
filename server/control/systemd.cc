#include "server/control/systemd.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>

namespace millrace::server {

// The protocol is a single datagram (man sd_notify), so it does not need libsystemd.
void NotifySystemd(std::string_view state) {
  const char* path = std::getenv("NOTIFY_SOCKET");
  if (path == nullptr || (path[0] != '/' && path[0] != '@')) return;
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  const size_t length = std::strlen(path);
  if (length >= sizeof(address.sun_path)) return;
  std::memcpy(address.sun_path, path, length);
  if (path[0] == '@') address.sun_path[0] = '\0';  // the abstract name space
  const int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
  if (fd < 0) return;
  sendto(fd, state.data(), state.size(), 0, reinterpret_cast<const sockaddr*>(&address),
         static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + length));
  close(fd);
}

void PingSystemd() {
  if (std::getenv("WATCHDOG_USEC") != nullptr) NotifySystemd("WATCHDOG=1");
}

}  // namespace millrace::server
