#include "server/sockets/socket_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <string_view>
#include <thread>

#include "models/core/errors.h"

namespace millrace {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// The time to wait for another process that looks at files of the same folder.
constexpr milliseconds kLockTime{1000};
constexpr milliseconds kLockRetry{10};

// Keeps two processes that start at once from both taking the file of a third one for stale. It
// does without the lock where the folder cannot be locked.
class FolderLock {
 public:
  explicit FolderLock(const std::string& path)
      : descriptor_(open(FolderOf(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    if (descriptor_ < 0) return;
    const auto end = steady_clock::now() + kLockTime;
    while (flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK &&
           steady_clock::now() < end) {
      std::this_thread::sleep_for(kLockRetry);
    }
  }
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;
  ~FolderLock() {
    if (descriptor_ >= 0) close(descriptor_);
  }

 private:
  static std::string FolderOf(const std::string& path) {
    const size_t slash = path.rfind('/');
    return slash == path.npos ? "." : path.substr(0, slash + 1);
  }

  const int descriptor_;
};

absl::Status CannotListen(std::string_view why) { return Unavailable("cannot listen: ", why); }

absl::Status CannotListen(int error) { return CannotListen(std::strerror(error)); }

// Removes a socket that nobody listens on.
absl::Status RemoveStale(const sockaddr_un& address) {
  struct stat file = {};
  if (lstat(address.sun_path, &file) != 0) return CannotListen(errno);
  if (!S_ISSOCK(file.st_mode)) return CannotListen("there is a file that is no socket");
  const int client = socket(AF_UNIX, SOCK_STREAM, 0);
  if (client < 0) return CannotListen(errno);
  fcntl(client, F_SETFD, FD_CLOEXEC);
  fcntl(client, F_SETFL, O_NONBLOCK);
  const bool connects =
      connect(client, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
  const int error = errno;
  close(client);
  if (connects || error == EAGAIN || error == EINPROGRESS)
    return CannotListen("another process listens there");
  if (error != ECONNREFUSED) return CannotListen(error);
  if (unlink(address.sun_path) != 0 && errno != ENOENT) return CannotListen(errno);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<SocketFile> ListenOnFile(int descriptor, const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) return CannotListen(ENAMETOOLONG);
  path.copy(address.sun_path, path.size());
  const auto bind_to_it = [&] {
    return bind(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
  };
  const FolderLock lock(path);
  if (!bind_to_it()) {
    if (errno != EADDRINUSE) return CannotListen(errno);
    MILLRACE_RETURN_IF_ERROR(RemoveStale(address));
    if (!bind_to_it()) return CannotListen(errno);
  }
  struct stat file = {};
  if (listen(descriptor, SOMAXCONN) != 0 || lstat(path.c_str(), &file) != 0)
    return CannotListen(errno);
  return SocketFile{path, file.st_dev, file.st_ino};
}

void RemoveSocketFile(const SocketFile& file) {
  struct stat now = {};
  if (lstat(file.path.c_str(), &now) == 0 && now.st_dev == file.device && now.st_ino == file.inode)
    unlink(file.path.c_str());
}

}  // namespace millrace
