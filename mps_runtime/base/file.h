#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace millrace {

// A file descriptor that this owns; -1: none. Not thread-safe.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~FileDescriptor() { Close(); }

  int get() const { return fd_; }
  // False when it reports an error, as one of what was written before may; errno tells.
  bool Close();

 private:
  int fd_ = -1;
};

// Whether it is a regular file, not a folder, pipe or device.
bool IsRegularFile(int fd);
// From where the descriptor stands to the end, or to the first byte over `most`; nullopt on an
// error, which errno tells.
std::optional<std::string> ReadToEnd(int fd, size_t most);
// False on an error, which errno tells.
bool WriteAll(int fd, std::string_view text);

}  // namespace millrace
