#pragma once

#include <sys/types.h>

#include <string>

#include "absl/status/statusor.h"

namespace millrace {

// The file of a socket that listens in the file system, as it was created.
struct SocketFile {
  std::string path;
  dev_t device = 0;
  ino_t inode = 0;
};

// Binds a socket of the family AF_UNIX to a file and has it listen: connections wait from then on.
// The umask decides who may connect. The file of a process that has ended is replaced; that of one
// that listens, or what is no socket, is not. Unavailable says why it cannot.
absl::StatusOr<SocketFile> ListenOnFile(int descriptor, const std::string& path);

// Removes the file, unless another one has taken its place.
void RemoveSocketFile(const SocketFile& file);

}  // namespace millrace
