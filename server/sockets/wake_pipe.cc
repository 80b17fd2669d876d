#include "server/sockets/wake_pipe.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "models/core/strings.h"

namespace millrace {

WakePipe::~WakePipe() {
  for (const int end : ends_) {
    if (end >= 0) close(end);
  }
}

absl::Status WakePipe::Open() {
  if (pipe(ends_) != 0)
    return absl::UnavailableError(StrCat("cannot make a pipe: ", std::strerror(errno)));
  for (const int end : ends_) {
    fcntl(end, F_SETFD, FD_CLOEXEC);
    fcntl(end, F_SETFL, fcntl(end, F_GETFL) | O_NONBLOCK);
  }
  return absl::OkStatus();
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
