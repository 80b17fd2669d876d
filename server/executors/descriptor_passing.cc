#include "server/executors/descriptor_passing.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "models/core/errors.h"
#include "mps_runtime/base/check.h"

namespace millrace::server {
namespace {

// The room for the control data of a message.
union ControlBuffer {
  cmsghdr header;  // aligns the bytes
  std::array<char, CMSG_SPACE(kMostDescriptors * sizeof(int))> bytes;
};

}  // namespace

absl::Status SendDescriptors(int socket, std::span<const int> descriptors) {
  MILLRACE_CHECK(!descriptors.empty() && descriptors.size() <= kMostDescriptors,
                 "too many descriptors for a message");
  ControlBuffer control = {};
  char byte = 'd';
  iovec piece = {&byte, 1};
  msghdr message = {};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes.data();
  message.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(descriptors.size_bytes());
  std::memcpy(CMSG_DATA(header), descriptors.data(), descriptors.size_bytes());
  int flags = MSG_DONTWAIT;
#ifdef MSG_NOSIGNAL
  flags |= MSG_NOSIGNAL;
#endif
  ssize_t sent = 0;
  do {
    sent = sendmsg(socket, &message, flags);
  } while (sent < 0 && errno == EINTR);
  if (sent == 1) return absl::OkStatus();
  return Unavailable("an executor did not get its connections: ", std::strerror(errno));
}

absl::StatusOr<std::vector<FileDescriptor>> ReceiveDescriptors(int socket) {
  ControlBuffer control = {};
  char byte = 0;
  iovec piece = {&byte, 1};
  msghdr message = {};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes.data();
  message.msg_controllen = control.bytes.size();
  int flags = 0;
#ifdef MSG_CMSG_CLOEXEC
  flags = MSG_CMSG_CLOEXEC;
#endif
  ssize_t got = 0;
  do {
    got = recvmsg(socket, &message, flags);
  } while (got < 0 && errno == EINTR);
  if (got < 0) return Unavailable("no connections came: ", std::strerror(errno));
  if (got == 0) return Unavailable("the other process has ended");

  std::vector<FileDescriptor> descriptors;
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
       header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    const size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    std::array<int, kMostDescriptors> numbers = {};
    std::memcpy(numbers.data(), CMSG_DATA(header), std::min(count, kMostDescriptors) * sizeof(int));
    for (size_t i = 0; i < std::min(count, kMostDescriptors); ++i) {
#ifndef MSG_CMSG_CLOEXEC
      fcntl(numbers[i], F_SETFD, FD_CLOEXEC);
#endif
      descriptors.emplace_back(numbers[i]);
    }
  }
  if (descriptors.empty() || (message.msg_flags & MSG_CTRUNC) != 0)
    return InvalidArgument("the connections of an executor are missing in its message");
  return descriptors;
}

}  // namespace millrace::server
