#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace millrace {

// Owns a file descriptor; -1 stands for none. Not thread-safe.
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
  // Returns false when closing reports an error, for example of an earlier write; errno has it.
  bool Close();

 private:
  int fd_ = -1;
};

// Returns true for a regular file, false for a folder, pipe or device.
bool IsRegularFile(int fd);
// Reads from the descriptor's position to the end, or to the first byte beyond `most`. Returns
// nullopt on an error, which errno has.
std::optional<std::string> ReadToEnd(int fd, size_t most);
// Returns false on an error, which errno has.
bool WriteAll(int fd, std::string_view text);

}  // namespace millrace
