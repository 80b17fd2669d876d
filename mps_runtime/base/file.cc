#include "mps_runtime/base/file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace millrace {

bool FileDescriptor::Close() { return fd_ < 0 || close(std::exchange(fd_, -1)) == 0; }

bool IsRegularFile(int fd) {
  struct stat status {};
  return fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
}

std::optional<std::string> ReadToEnd(int fd, size_t most) {
  std::string text;
  std::array<char, 16384> part;
  while (text.size() <= most) {
    const ssize_t got = read(fd, part.data(), part.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::nullopt;
    if (got == 0) break;
    text.append(part.data(), static_cast<size_t>(got));
  }
  return text;
}

bool WriteAll(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

}  // namespace millrace
