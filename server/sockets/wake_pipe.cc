#include "server/sockets/wake_pipe.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "models/core/errors.h"

namespace millrace {

WakePipe::~WakePipe() {
  for (const int end : ends_) {
    if (end >= 0) close(end);
  }
}

absl::Status WakePipe::Open() {
#ifdef __linux__
  // In one step: another thread may start a child at any time.
  const bool made = pipe2(ends_, O_CLOEXEC | O_NONBLOCK) == 0;
#else
  const bool made = pipe(ends_) == 0;
  for (const int end : ends_) {
    if (!made) break;
    fcntl(end, F_SETFD, FD_CLOEXEC);
    fcntl(end, F_SETFL, fcntl(end, F_GETFL) | O_NONBLOCK);
  }
#endif
  if (made) return absl::OkStatus();
  return Unavailable("cannot make a pipe: ", std::strerror(errno));
}

void WakePipe::Wake() const noexcept {
  const char byte = 0;
  // A full pipe has woken the thread already.
  while (write(ends_[1], &byte, 1) < 0 && errno == EINTR) {
  }
}

void WakePipe::Drain() const noexcept {
  char bytes[64];
  while (read(ends_[0], bytes, sizeof(bytes)) > 0) {
  }
}

}  // namespace millrace
