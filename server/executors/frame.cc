#include "server/executors/frame.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "models/core/errors.h"
#include "models/core/strings.h"

namespace millrace::server {
namespace {

constexpr uint32_t kMagic = 0x4d4c5231;  // MLR1
constexpr size_t kPrefix = 16;
constexpr size_t kReceiveBytes = size_t{64} << 10;
// The pieces for one call of sendmsg; IOV_MAX is 1024 on Linux and on macOS.
constexpr size_t kMostPieces = 512;

#ifdef MSG_NOSIGNAL
constexpr int kSendFlags = MSG_NOSIGNAL;
#else
constexpr int kSendFlags = 0;  // SO_NOSIGPIPE is set
#endif

absl::Status Gone() { return Unavailable("the other process has ended"); }
absl::Status WaitEnded() {
  return absl::DeadlineExceededError("the other process does not answer");
}

bool WouldBlock(int error) { return error == EAGAIN || error == EWOULDBLOCK; }

}  // namespace

std::string MessagePrefix(uint32_t header, uint64_t behind) {
  std::string prefix(kPrefix, '\0');
  std::memcpy(prefix.data(), &kMagic, sizeof(kMagic));
  std::memcpy(prefix.data() + 4, &header, sizeof(header));
  std::memcpy(prefix.data() + 8, &behind, sizeof(behind));
  return prefix;
}

absl::StatusOr<std::optional<MessageFrame>> MessageReader::Next() {
  const std::string_view rest = std::string_view(bytes_).substr(at_);
  if (rest.size() < kPrefix) return std::nullopt;
  uint32_t magic = 0;
  uint32_t header = 0;
  uint64_t behind = 0;
  std::memcpy(&magic, rest.data(), sizeof(magic));
  std::memcpy(&header, rest.data() + 4, sizeof(header));
  std::memcpy(&behind, rest.data() + 8, sizeof(behind));
  if (magic != kMagic) return InvalidArgument("a message does not begin as a frame does");
  if (header > limits_.header) {
    return InvalidArgument("a message has a header of ", header, " bytes; at most ", limits_.header,
                           " are allowed");
  }
  if (behind > limits_.behind) {
    return InvalidArgument("a message has ", behind, " bytes behind its header; at most ",
                           limits_.behind, " are allowed");
  }
  if (rest.size() - kPrefix < header + behind) return std::nullopt;
  MessageFrame frame{.header = std::string(rest.substr(kPrefix, header)),
                     .behind = std::string(rest.substr(kPrefix + header, behind))};
  at_ += kPrefix + header + behind;
  if (at_ == bytes_.size()) {
    bytes_.clear();
    at_ = 0;
  } else if (at_ >= kReceiveBytes) {
    bytes_.erase(0, at_);
    at_ = 0;
  }
  return frame;
}

MessageSocket::MessageSocket(FileDescriptor socket, const MessageLimits& limits)
    : limits_(limits), socket_(std::move(socket)), reader_(limits), buffer_(kReceiveBytes, '\0') {}

void MessageSocket::SetPatience(std::chrono::milliseconds patience) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(patience);
  const timeval time = {
      .tv_sec = seconds.count(),
      .tv_usec = static_cast<decltype(timeval::tv_usec)>(
          std::chrono::duration_cast<std::chrono::microseconds>(patience - seconds).count())};
  setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &time, sizeof(time));
  setsockopt(socket_.get(), SOL_SOCKET, SO_SNDTIMEO, &time, sizeof(time));
}

absl::Status MessageSocket::Send(std::string_view header, std::span<const std::string_view> behind,
                                 KeepWaiting keep_waiting) {
  uint64_t behind_bytes = 0;
  for (const std::string_view piece : behind) behind_bytes += piece.size();
  if (header.size() > limits_.header || behind_bytes > limits_.behind) {
    return absl::ResourceExhaustedError(
        StrCat("a message of ", header.size(), " bytes with ", behind_bytes,
               " behind it is too large for an executor; at most ", limits_.header, " and ",
               limits_.behind, " are allowed"));
  }
  std::string prefix = MessagePrefix(static_cast<uint32_t>(header.size()), behind_bytes);
  std::vector<iovec> pieces;
  pieces.reserve(behind.size() + 2);
  pieces.push_back({prefix.data(), prefix.size()});
  const auto add = [&pieces](std::string_view piece) {
    if (!piece.empty()) pieces.push_back({const_cast<char*>(piece.data()), piece.size()});
  };
  add(header);
  std::ranges::for_each(behind, add);
  std::span<iovec> left(pieces);
  while (!left.empty()) {
    msghdr message = {};
    message.msg_iov = left.data();
    message.msg_iovlen =
        static_cast<decltype(msghdr::msg_iovlen)>(std::min(left.size(), kMostPieces));
    const ssize_t sent = sendmsg(socket_.get(), &message, kSendFlags);
    if (sent < 0) {
      if (errno == EINTR) continue;
      if (!WouldBlock(errno)) return Gone();
      if (!keep_waiting()) return WaitEnded();
      continue;
    }
    auto done = static_cast<size_t>(sent);
    while (!left.empty() && done >= left.front().iov_len) {
      done -= left.front().iov_len;
      left = left.subspan(1);
    }
    if (done > 0) {
      left.front().iov_base = static_cast<char*>(left.front().iov_base) + done;
      left.front().iov_len -= done;
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<MessageFrame> MessageSocket::Receive(KeepWaiting keep_waiting) {
  while (true) {
    MILLRACE_ASSIGN_OR_RETURN(auto frame, reader_.Next());
    if (frame) return *std::move(frame);
    const ssize_t got = recv(socket_.get(), buffer_.data(), buffer_.size(), 0);
    if (got > 0) {
      reader_.Append(std::string_view(buffer_).substr(0, static_cast<size_t>(got)));
    } else if (got == 0) {
      if (reader_.is_within_frame())
        return Unavailable("the other process has ended within a message");
      return Gone();
    } else if (errno != EINTR) {
      if (!WouldBlock(errno)) return Gone();
      if (!keep_waiting()) return WaitEnded();
    }
  }
}

void MessageSocket::Shutdown() { shutdown(socket_.get(), SHUT_RDWR); }

absl::StatusOr<SocketPair> MakeSocketPair() {
  std::array<int, 2> ends = {-1, -1};
#ifdef SOCK_CLOEXEC
  const int made = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data());
#else
  const int made = socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data());
#endif
  if (made != 0) return Unavailable("no connection to an executor: ", std::strerror(errno));
  SocketPair pair{FileDescriptor(ends[0]), FileDescriptor(ends[1])};
#ifndef SOCK_CLOEXEC
  for (const int end : ends) {
    const int on = 1;
    fcntl(end, F_SETFD, FD_CLOEXEC);
    setsockopt(end, SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof(on));
  }
#endif
  return pair;
}

}  // namespace millrace::server
